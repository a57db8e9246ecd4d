package dev.ashlar.metadata.server;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** Reads at one peer and no other, which answers only while it leads. */
final class OnePeer implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMillis(1500);

  private final CallClient calls;
  private final AtomicLong answers = new AtomicLong();
  private volatile boolean isOver;
  private volatile long lastAbsentNanos = System.nanoTime();

  OnePeer(CallClient calls) throws InterruptedException {
    this.calls = calls;
    while (!calls.awaitConnected(TIMEOUT)) {
      Thread.sleep(10);
    }
  }

  /** Of the buckets; empty when it does not answer. */
  Optional<Set<String>> names() throws InterruptedException {
    return ask(MetadataQuery.newBuilder().setBuckets(true))
        .map(
            answer ->
                answer.getBucketsList().stream()
                    .map(BucketRow::getName)
                    .collect(Collectors.toSet()));
  }

  /** Empty when it does not answer. */
  Optional<MetadataAnswer> ask(MetadataQuery.Builder query) throws InterruptedException {
    try {
      CallAnswer answer = calls.call(Method.QUERY, query.build().toByteArray(), TIMEOUT);
      return answer.outcome() == Outcome.DONE
          ? Optional.of(MetadataAnswer.parseFrom(answer.body()))
          : Optional.empty();
    } catch (CallException e) {
      return Optional.empty();
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  /** Reads again and again, until {@link #stop}. */
  Thread readOn(String expected) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                while (!isOver) {
                  readOnce(expected);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void readOnce(String expected) throws InterruptedException {
    long begun = System.nanoTime();
    Optional<Set<String>> seen = names();
    if (seen.isPresent()) {
      answers.incrementAndGet();
      if (!seen.get().contains(expected)) {
        lastAbsentNanos = begun;
      }
    }
  }

  void stop(Thread reader) throws InterruptedException {
    isOver = true;
    reader.join();
  }

  /** How often it was answered. */
  long answers() {
    return answers.get();
  }

  /** When the last read began that did not see what is expected. */
  long lastAbsentNanos() {
    return lastAbsentNanos;
  }

  @Override
  public void close() {
    calls.close();
  }
}
