package dev.ashlar.protocol.client;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Completes an operation when all of its parts have ended, with the first failure if any. */
public final class AllOf<T> implements Completion<T> {
  private final Completion<T> whole;
  private final AtomicInteger left;
  private final AtomicReference<@Nullable ShardException> firstFailure = new AtomicReference<>();

  /** A request for a part of a list. */
  public interface PartRequest<E, T> {
    void start(List<E> part, Completion<T> completion);
  }

  private AllOf(Completion<T> whole, int parts) {
    this.whole = whole;
    left = new AtomicInteger(parts);
  }

  /** Requests the list at once or, if it is longer than a part may be, in several parts. */
  public static <E, T> void inParts(
      List<E> all, int partMax, Completion<T> completion, PartRequest<E, T> request) {
    if (all.size() <= partMax) {
      request.start(all, completion);
      return;
    }
    Completion<T> whole = new AllOf<>(completion, Math.ceilDiv(all.size(), partMax));
    for (int from = 0; from < all.size(); from += partMax) {
      request.start(all.subList(from, Math.min(all.size(), from + partMax)), whole);
    }
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
