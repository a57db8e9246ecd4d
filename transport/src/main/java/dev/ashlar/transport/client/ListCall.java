package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A page of a listing; the caller blocks until it is here. */
final class ListCall extends DriveCall {
  private final RemoteShardStore store;
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile @Nullable Reply page;
  private volatile @Nullable ShardException failure;

  ListCall(Request request, long deadlineNanos, RemoteShardStore store) {
    super(request, deadlineNanos);
    this.store = store;
  }

  @Override
  boolean isRead() {
    return true;
  }

  @Override
  int windowBytes() {
    return 0;
  }

  @Override
  void answered(Reply reply) {
    if (reply instanceof Reply.Failed failed) {
      failed(failed.fault(), failed.why());
    } else if (done.getCount() > 0) {
      page = reply;
      end();
    }
  }

  @Override
  void failed(ShardException why) {
    if (done.getCount() > 0) {
      failure = why;
      end();
    }
  }

  private void end() {
    store.left(0);
    done.countDown();
  }

  /** Waits for the answer, or for the connection to end the call at its deadline. */
  Reply await() throws ShardException {
    try {
      done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ShardException(ShardFault.UNAVAILABLE, "interrupted while listing");
    }
    ShardException why = failure;
    if (why != null) {
      throw why;
    }
    Reply reply = page;
    if (reply == null) {
      throw new IllegalStateException("ended without an answer");
    }
    return reply;
  }
}
