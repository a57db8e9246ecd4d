package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** A page of a listing; the caller blocks until it is here. */
final class ListCall extends DriveCall {
  private final CompletableFuture<Reply> answer = new CompletableFuture<>();

  ListCall(RemoteShardStore store, Request request, long deadlineNanos) {
    super(store, request, deadlineNanos);
  }

  @Override
  void answered(Reply reply) {
    if (reply instanceof Reply.Failed failed) {
      failed(failed.fault(), failed.why());
    } else if (!answer.isDone()) {
      leave();
      answer.complete(reply);
    }
  }

  @Override
  void failed(ShardException why) {
    if (!answer.isDone()) {
      leave();
      answer.completeExceptionally(why);
    }
  }

  /** Waits for the answer, or for the connection to end the call at its deadline. */
  Reply await() throws ShardException {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ShardException(ShardFault.UNAVAILABLE, "interrupted while listing");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ShardException why) {
        throw why;
      }
      throw new IllegalStateException(e);
    }
  }
}
