package dev.ashlar.metadata.consensus.raft;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits commands through the peer of this process that leads. A batch is proposed again until it
 * is applied, no submitter waits for it any more, or this process cannot commit it: apply
 * recognises requests that did reach the log.
 */
public final class LeaderCommands implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderCommands.class);
  private static final long RETRY_MS = 10;
  private static final long WATCH_MS = 100;

  private final CommitQueue queue;
  private final Supplier<@Nullable Peer> leader;
  private final Predicate<Peer> isHopeless;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("metadata-timer").factory());
  private volatile boolean isClosed;

  /**
   * @param timeout the longest time that a command without a deadline of its own may wait
   * @param version the metadata version of an entry that is created now
   * @param leader the peer to propose to; null: there is none
   * @param isHopeless whether to abandon a proposal that this peer did not accept
   */
  public LeaderCommands(
      Clock clock,
      Duration timeout,
      MeterRegistry meters,
      IntSupplier version,
      Supplier<@Nullable Peer> leader,
      Predicate<Peer> isHopeless) {
    this.queue = new CommitQueue(clock, timeout, meters, version, this::logTimeMs, this::propose);
    this.leader = leader;
    this.isHopeless = isHopeless;
    everyTenth(queue::wakeExpired);
  }

  /** Only a ready leader has applied everything that was committed. */
  private OptionalLong logTimeMs() {
    Peer peer = leader.get();
    return peer != null && peer.isLeaderReady()
        ? OptionalLong.of(peer.machine().logTimeMs())
        : OptionalLong.empty();
  }

  public CommitQueue queue() {
    return queue;
  }

  /** Runs the task every tenth of a second until this is closed. */
  public void everyTenth(Runnable task) {
    var unused = timer.scheduleWithFixedDelay(task, WATCH_MS, WATCH_MS, TimeUnit.MILLISECONDS);
  }

  private void propose(Proposal proposal) {
    Peer peer = leader.get();
    if (peer == null) {
      proposal.abandon();
      return;
    }
    try {
      var unused =
          peer.propose(proposal)
              .whenComplete(
                  (reply, failure) -> {
                    if (failure != null || !reply.isSuccess()) {
                      retry(peer, proposal, failure != null ? failure : reply.getException());
                    }
                  });
    } catch (IOException | RuntimeException e) {
      retry(peer, proposal, e);
    }
  }

  private void retry(Peer peer, Proposal proposal, Throwable reason) {
    LOG.debug("Proposal not accepted: {}", String.valueOf(reason));
    if (isClosed || isHopeless.test(peer)) {
      proposal.abandon();
    } else if (proposal.isWanted()) {
      var unused = timer.schedule(() -> propose(proposal), RETRY_MS, TimeUnit.MILLISECONDS);
    }
  }

  /** Accepts and proposes nothing any more; what was proposed may still be answered. */
  @Override
  public void close() {
    isClosed = true;
    queue.close();
    timer.shutdownNow();
  }
}
