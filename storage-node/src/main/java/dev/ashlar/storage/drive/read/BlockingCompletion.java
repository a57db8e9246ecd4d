package dev.ashlar.storage.drive.read;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A completion that one thread waits for. Only the first outcome counts, so that the operation may
 * be abandoned.
 */
public final class BlockingCompletion<T> implements Completion<T> {
  private final CompletableFuture<T> end = new CompletableFuture<>();

  @Override
  public void succeeded(T result) {
    end.complete(result);
  }

  @Override
  public void failed(ShardException failure) {
    end.completeExceptionally(failure);
  }

  public T await() throws ShardException, InterruptedException {
    try {
      return end.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ShardException failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    }
  }
}
