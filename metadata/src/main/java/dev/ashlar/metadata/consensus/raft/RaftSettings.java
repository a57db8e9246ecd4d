package dev.ashlar.metadata.consensus.raft;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * Ratis' settings: bounded memory, timeouts of seconds, and no automatism that conflicts with ours.
 */
public final class RaftSettings {
  /** A batch exceeds its own limit by at most one command; both fit easily. */
  static final int ENTRY_BYTES_MAX = 2 << 20;

  /** The size of the parts in which a checkpoint file is sent. */
  private static final long CHECKPOINT_CHUNK_BYTES = 1 << 20;

  private static final long NEW_PEER_SILENCE_MS = 30_000;

  private static final int OUT_OF_REACH_DAYS = 36_500;

  private static final TimeDuration OUT_OF_REACH =
      TimeDuration.valueOf(OUT_OF_REACH_DAYS, TimeUnit.DAYS);

  private RaftSettings() {}

  /**
   * How long a follower waits for its leader.
   *
   * @param min the shortest wait before it asks for votes, or grants its own
   * @param max the longest wait before it asks for votes
   * @param firstMin like min, after the start
   * @param afterStepDown how long a leader that lost its followers does not ask for votes; a leader
   *     also steps down after the process paused for this long, because Ratis has one setting for
   *     both
   */
  public record Timing(Duration min, Duration max, Duration firstMin, Duration afterStepDown) {
    /**
     * The timing of peers in one process, which run or stop together: a pause is no reason to step
     * down. A single peer cannot lose followers either. With several peers, possibly only the
     * former leader can be elected, because it has the longest log, so it has to ask for votes
     * again some time.
     *
     * @param isFirst whether the peer asks for votes before the others at the start
     */
    public static Timing embedded(boolean isFirst, boolean isAlone) {
      return new Timing(
          Duration.ofSeconds(2),
          Duration.ofSeconds(4),
          Duration.ofMillis(isFirst ? 10 : 500),
          isAlone ? Duration.ofDays(OUT_OF_REACH_DAYS) : Duration.ofSeconds(10));
    }
  }

  /**
   * @param entriesKept how many of the last log entries to keep; the log is purged only when at
   *     least as many can be removed
   */
  static RaftProperties of(Path directory, RpcType rpc, Timing timing, int entriesKept) {
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, rpc);
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    setTimeouts(properties, timing);
    setLog(properties, entriesKept);
    setBounds(properties);
    return properties;
  }

  private static void setTimeouts(RaftProperties properties, Timing timing) {
    long first = timing.firstMin().toMillis();
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(timing.min().toMillis()));
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(timing.max().toMillis()));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, millis(first));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, millis(2 * first));
    // After this silence, a new peer counts as gone and is not added.
    RaftServerConfigKeys.setStagingTimeout(properties, millis(NEW_PEER_SILENCE_MS));
    RaftServerConfigKeys.Rpc.setSlownessTimeout(properties, OUT_OF_REACH);
    // A pause of the process (SIGSTOP, a debugger) stops all its peers at once. If peers in other
    // processes have elected a leader meanwhile, their terms show it.
    RaftServerConfigKeys.setSleepDeviationThreshold(properties, OUT_OF_REACH);
    RaftServerConfigKeys.setCloseThreshold(properties, OUT_OF_REACH);
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
        properties, millis(timing.afterStepDown().toMillis()));
  }

  /**
   * Gives the rounds of the first election the usual time; called when a peer asks for votes. Ratis
   * takes their time from the wait before the first election, which is too short for a vote where
   * syncs are slow, and reads the setting again in each round. The longer time is set first: Ratis
   * reads the shorter one first, and its election fails for good if that is the greater one.
   */
  static void allowSlowVotes(RaftProperties properties) {
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(
        properties, RaftServerConfigKeys.Rpc.timeoutMax(properties));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(
        properties, RaftServerConfigKeys.Rpc.timeoutMin(properties));
  }

  private static void setLog(RaftProperties properties, int entriesKept) {
    RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
    // Saves a thread that would order appended entries: our transports keep them in order.
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
    RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf("4MB"));
    RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf("4MB"));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(properties, 2);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(properties, SizeInBytes.valueOf("8MB"));
    RaftServerConfigKeys.Log.setWriteBufferSize(
        properties, SizeInBytes.valueOf(ENTRY_BYTES_MAX + (64 << 10)));
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(
        properties, SizeInBytes.valueOf(ENTRY_BYTES_MAX));
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(
        properties, SizeInBytes.valueOf(CHECKPOINT_CHUNK_BYTES));
    // Otherwise one absent peer would make the logs of all others grow; it receives a checkpoint
    // instead.
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Log.setPurgePreservationLogNum(properties, entriesKept);
    RaftServerConfigKeys.Log.setPurgeGap(properties, entriesKept);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, false);
    RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(properties, false);
  }

  private static void setBounds(RaftProperties properties) {
    RaftServerConfigKeys.Write.setElementLimit(properties, 64);
    RaftServerConfigKeys.Write.setByteLimit(properties, SizeInBytes.valueOf("16MB"));
    RaftServerConfigKeys.Log.setQueueByteLimit(properties, SizeInBytes.valueOf("16MB"));
    RaftServerConfigKeys.RetryCache.setExpiryTime(properties, millis(2000));
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }
}
