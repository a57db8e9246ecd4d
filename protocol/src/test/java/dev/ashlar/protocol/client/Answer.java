package dev.ashlar.protocol.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A {@link Completion} one can wait for. */
public final class Answer<T> implements Completion<T> {
  private static final int SECONDS_MAX = 60;
  private final CompletableFuture<T> future = new CompletableFuture<>();

  @Override
  public void succeeded(T result) {
    if (!future.complete(result)) {
      throw new IllegalStateException("completed twice");
    }
  }

  @Override
  public void failed(ShardException failure) {
    if (!future.completeExceptionally(failure)) {
      throw new IllegalStateException("completed twice");
    }
  }

  public boolean isDone() {
    return future.isDone();
  }

  /** The result, or the drive's failure. */
  public T await() throws ShardException {
    try {
      return future.get(SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ShardException failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new IllegalStateException("no answer", e);
    }
  }

  /** The fault it must end with. */
  public ShardFault awaitFault() {
    T result;
    try {
      result = await();
    } catch (ShardException e) {
      return e.fault();
    }
    throw new AssertionError("expected a fault but got " + result);
  }
}
