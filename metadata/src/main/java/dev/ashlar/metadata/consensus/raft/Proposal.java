package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A batch of commands that becomes one log entry. It is the message of the Raft request, so that
 * the leader's state machine finds it again at apply and can wake the submitters directly.
 */
public final class Proposal implements Message {
  private final List<CommitQueue.Waiter> waiters;
  private final CommandBatch batch;
  private final ByteString content;
  private final CommitQueue queue;
  private final AtomicBoolean finished = new AtomicBoolean();

  /**
   * @param version of metadata
   */
  Proposal(List<CommitQueue.Waiter> waiters, int version, CommitQueue queue) {
    this.waiters = waiters;
    CommandBatch.Builder builder = CommandBatch.newBuilder().setVersion(version);
    waiters.forEach(waiter -> builder.addCommands(waiter.command()));
    this.batch = builder.build();
    this.content = UnsafeByteOperations.unsafeWrap(batch.toByteArray());
    this.queue = queue;
  }

  CommandBatch batch() {
    return batch;
  }

  @Override
  public ByteString getContent() {
    return content;
  }

  /** Called by apply, and a second time if both the first attempt and a retry reached the log. */
  void applied(List<CommandResult> results) {
    if (finished.compareAndSet(false, true)) {
      for (int i = 0; i < results.size(); i++) {
        waiters.get(i).succeed(results.get(i));
      }
      queue.applied();
    }
  }

  /** Whether to continue trying; abandons the proposal once no submitter waits for it. */
  public boolean isWanted() {
    if (finished.get()) {
      return false;
    }
    if (!waiters.stream().allMatch(CommitQueue.Waiter::isExpired)) {
      return true;
    }
    abandon();
    return false;
  }

  /** Stops trying to get the proposal into the log, where it may be nevertheless. */
  public void abandon() {
    if (finished.compareAndSet(false, true)) {
      waiters.forEach(CommitQueue.Waiter::giveUp);
      queue.finished();
    }
  }
}
