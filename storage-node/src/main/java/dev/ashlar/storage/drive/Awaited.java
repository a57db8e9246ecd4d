package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The end of an operation that a thread waits for: its first, where it may be given up before. */
final class Awaited<T> implements Completion<T> {
  private final String operation;
  private final CompletableFuture<T> end = new CompletableFuture<>();

  /**
   * @param operation what it is, for messages
   */
  Awaited(String operation) {
    this.operation = operation;
  }

  @Override
  public void succeeded(T result) {
    end.complete(result);
  }

  @Override
  public void failed(ShardException failure) {
    end.completeExceptionally(failure);
  }

  T await() throws ShardException {
    try {
      return end.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ShardException failure
          ? failure
          : new ShardException(ShardFault.IO_ERROR, operation + " failed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ShardException(ShardFault.UNAVAILABLE, operation + " was interrupted", e);
    }
  }
}
