package dev.ashlar.metadata.consensus.checkpoint;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * The checkpoints that are being sent to other peers. These and the log after them have to stay
 * until they have arrived. A checkpoint that no peer has asked for in a while, or that takes too
 * long altogether, no longer counts.
 */
final class OutgoingCheckpoints {
  /** Ratis gives up a part after a minute, and asks for it again. */
  private static final long SILENCE_NANOS = Duration.ofMinutes(2).toNanos();

  private static final long WHOLE_NANOS = Duration.ofHours(4).toNanos();

  private final Map<TermIndex, Sending> all = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  private record Sending(long beginNanos, long askedNanos) {}

  OutgoingCheckpoints(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Called before a part of the checkpoint is sent. After a silence the transfer counts as a new
   * one.
   */
  void asked(TermIndex checkpoint) {
    long now = nanos.getAsLong();
    all.compute(
        checkpoint,
        (key, before) ->
            before == null || now - before.askedNanos() >= SILENCE_NANOS
                ? new Sending(now, now)
                : new Sending(before.beginNanos(), now));
  }

  boolean isSent(TermIndex checkpoint) {
    Sending sending = all.get(checkpoint);
    return sending != null && isSent(sending);
  }

  private boolean isSent(Sending sending) {
    long now = nanos.getAsLong();
    return now - sending.askedNanos() < SILENCE_NANOS && now - sending.beginNanos() < WHOLE_NANOS;
  }

  /**
   * The log entry of the earliest checkpoint that is being sent; {@link Long#MAX_VALUE}: none is.
   */
  long firstIndex() {
    return all.entrySet().stream()
        .filter(sending -> isSent(sending.getValue()))
        .mapToLong(sending -> sending.getKey().getIndex())
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * Gives up all transfers, because there is no space to keep their checkpoints. They begin again
   * with the latest checkpoint.
   */
  void giveUp() {
    long longAgo = nanos.getAsLong() - WHOLE_NANOS;
    all.replaceAll((key, sending) -> new Sending(longAgo, sending.askedNanos()));
  }

  /** The checkpoint was removed. */
  void removed(TermIndex checkpoint) {
    all.remove(checkpoint);
  }
}
