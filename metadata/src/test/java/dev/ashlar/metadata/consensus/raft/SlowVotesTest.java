package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Peers of one process whose votes take longer than the first peer waits at its start. A vote has
 * to be synced; the answer to a pre-vote has not, and is fast.
 */
class SlowVotesTest {
  private static final long VOTE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  @TempDir Path root = Path.of("");

  /** Ratis gives each round of the first election the time of that wait. */
  @Test
  @Timeout(60)
  void aLeaderIsElected() throws Exception {
    try (LocalPeers peers = new LocalPeers(root, 0, SlowVotesTest::delayVote)) {
      peers.awaitLeader();
      assertTrue(peers.all().stream().mapToLong(Peer::term).max().orElseThrow() <= 3);
    }
  }

  /** Ratis reads the two times on another thread, at any moment. */
  @Test
  void theShorterTimeOfAnElectionIsNeverTheGreaterOne() {
    RaftProperties properties =
        RaftSettings.of(
            root,
            new PeerRpc(),
            RaftSettings.Timing.embedded(true, false),
            CheckpointLimits.DEFAULT.entriesKept());
    RaftProperties watched =
        new RaftProperties(properties) {
          @Override
          public void set(String name, String value) {
            super.set(name, value);
            TimeDuration min = RaftServerConfigKeys.Rpc.firstElectionTimeoutMin(this);
            TimeDuration max = RaftServerConfigKeys.Rpc.firstElectionTimeoutMax(this);
            assertTrue(min.compareTo(max) <= 0, min + " to " + max);
          }
        };
    RaftSettings.allowSlowVotes(watched);
    assertEquals(
        RaftServerConfigKeys.Rpc.timeoutMin(properties),
        RaftServerConfigKeys.Rpc.firstElectionTimeoutMin(watched));
  }

  private static void delayVote(Object request) {
    if (request instanceof RequestVoteRequestProto vote && !vote.getPreVote()) {
      LockSupport.parkNanos(VOTE_NANOS);
    }
  }
}
