package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.log.LogMark;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Raises the log mark of a peer to the end of its log, and says when it cannot. */
final class MarkRaiser {
  static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final Logger LOG = LoggerFactory.getLogger(MarkRaiser.class);

  private final RaftPeerId peer;
  private final LogMark mark;
  private final LongSupplier acknowledged;

  /** Why the last attempt failed; empty after success. */
  private volatile String trouble = "";

  /**
   * @param acknowledged the last entry that is committed and durable on the peer
   */
  MarkRaiser(RaftPeerId peer, LogMark mark, LongSupplier acknowledged) {
    this.peer = peer;
    this.mark = mark;
    this.acknowledged = acknowledged;
  }

  /** A failure is logged once, until it changes or goes away. */
  void raise() {
    try {
      mark.raise(acknowledged.getAsLong());
      trouble = "";
    } catch (ClosedByInterruptException e) {
      // The peer is closing. The closing thread raises the mark once more.
    } catch (IOException | RuntimeException e) {
      report(e.toString());
    }
  }

  private void report(String now) {
    if (!now.equals(trouble)) {
      LOG.warn(
          "Metadata peer {} cannot record the end of its log and retries every {} ms: "
              + "{}. Until it succeeds, the loss of the log's end may go unnoticed.",
          peer,
          INTERVAL.toMillis(),
          now);
    }
    trouble = now;
  }
}
