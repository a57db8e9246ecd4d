package dev.ashlar.protocol.client;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Completes an operation when all of its parts have ended, with the first failure if any. */
public final class AllOf<T> implements Completion<T> {
  private final Completion<T> whole;
  private final AtomicInteger left;
  private final AtomicReference<@Nullable ShardException> firstFailure = new AtomicReference<>();

  public AllOf(Completion<T> whole, int parts) {
    this.whole = whole;
    left = new AtomicInteger(parts);
  }

  @Override
  public void succeeded(T result) {
    if (left.decrementAndGet() == 0) {
      ShardException failure = firstFailure.get();
      if (failure == null) {
        whole.succeeded(result);
      } else {
        whole.failed(failure);
      }
    }
  }

  @Override
  public void failed(ShardException failure) {
    firstFailure.compareAndSet(null, failure);
    if (left.decrementAndGet() == 0) {
      ShardException first = firstFailure.get();
      whole.failed(first == null ? failure : first);
    }
  }
}
