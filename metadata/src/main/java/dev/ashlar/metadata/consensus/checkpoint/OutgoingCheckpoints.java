package dev.ashlar.metadata.consensus.checkpoint;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Which checkpoints are being sent to other peers, as their files are asked for: these, and the log
 * behind them, have to stay until they have arrived. One that is not asked for any more for a
 * while, or takes too long altogether, does not count.
 */
final class OutgoingCheckpoints {
  /** A part is given up after a minute; then it is asked for again. */
  private static final long SILENCE_NANOS = Duration.ofMinutes(2).toNanos();

  private static final long WHOLE_NANOS = Duration.ofHours(4).toNanos();

  private final Map<TermIndex, Sending> all = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  private record Sending(long beginNanos, long askedNanos) {}

  OutgoingCheckpoints(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** A part of it is about to be sent; after a silence, it is sent anew. */
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

  /** The log entry of the earliest that is being sent; {@link Long#MAX_VALUE} when none is. */
  long firstIndex() {
    return all.entrySet().stream()
        .filter(sending -> isSent(sending.getValue()))
        .mapToLong(sending -> sending.getKey().getIndex())
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** There is no room to keep them. They begin anew, with the latest. */
  void giveUp() {
    long longAgo = nanos.getAsLong() - WHOLE_NANOS;
    all.replaceAll((key, sending) -> new Sending(longAgo, sending.askedNanos()));
  }

  /** It is not there any more. */
  void removed(TermIndex checkpoint) {
    all.remove(checkpoint);
  }
}
