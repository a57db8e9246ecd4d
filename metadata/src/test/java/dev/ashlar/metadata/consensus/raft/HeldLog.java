package dev.ashlar.metadata.consensus.raft;

import java.util.concurrent.CountDownLatch;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.util.CodeInjectionForTesting;

/**
 * Keeps one peer of this process from writing its log. Ratis has one place for such code in a
 * process, so that a later instance ends what an earlier one began.
 */
final class HeldLog {
  private final RaftPeerId held;
  private final CountDownLatch isReleased = new CountDownLatch(1);

  /** Holds the log of a peer that is started later. */
  HeldLog(RaftPeerId held) {
    this.held = held;
    CodeInjectionForTesting.put(
        "SegmentedRaftLogWorker.runWorker", (peer, other, arguments) -> pass(peer));
  }

  private boolean pass(Object peer) {
    try {
      if (held.equals(peer)) {
        isReleased.await();
      }
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Lets the peer write. */
  void release() {
    isReleased.countDown();
  }
}
