package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.ThreadJoin;
import dev.ashlar.storage.drive.read.BlockingCompletion;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The maintenance thread of a drive: it prepares the next segment, checkpoints the index, and
 * compacts and merges at a bounded rate.
 */
final class Housekeeper {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Pause while a file cannot be opened. */
  private static final long NOT_OPENED_REST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Merges between two rounds of the other work. */
  private static final int MERGES_MAX = 16;

  private final DriveCore core;
  private final DriveConfig.Limits limits;
  private final CommitQueue queue;
  private final Consumer<Exception> onFailure;
  private final Compactor compactor;
  private final ExtentMerger coalescer;
  private final Thread thread;
  private volatile boolean isStopping;

  /**
   * What a replay of the log would have cost at the last checkpoint; see {@code replayBytes}. It
   * begins so low that the first round makes a checkpoint: what a start replays is not counted.
   */
  private long checkpointed;

  Housekeeper(
      DriveCore core,
      DriveConfig.Limits limits,
      CommitQueue queue,
      String name,
      Consumer<Exception> onFailure) {
    this.core = core;
    this.limits = limits;
    this.queue = queue;
    this.onFailure = onFailure;
    checkpointed = -limits.checkpointBytes();
    compactor = core.newCompactor(this::commit);
    coalescer = core.newCoalescer(this::merge);
    thread = Thread.ofPlatform().name("drive-keep-" + name).daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  void end() {
    isStopping = true;
    LockSupport.unpark(thread);
  }

  /**
   * Ends the thread. A running move is completed, for which the log writer must still run.
   *
   * @return false if it hangs
   */
  boolean stop() {
    end();
    return ThreadJoin.await(thread, limits.stallTimeout());
  }

  private void run() {
    while (!isStopping) {
      try {
        round();
      } catch (ShardException e) {
        LOG.info("Drive {}: compaction stopped: {}", core.drive(), e.getMessage());
      } catch (FileNotOpenedException e) {
        LOG.warn("Drive {}: maintenance is paused: {}", core.drive(), e.getMessage());
        LockSupport.parkNanos(this, NOT_OPENED_REST_NANOS);
      } catch (IOException | RuntimeException | Error e) {
        onFailure.accept(e instanceof Exception failure ? failure : new IllegalStateException(e));
        return;
      }
      LockSupport.parkNanos(this, ROUND_NANOS);
    }
  }

  void round() throws IOException, ShardException {
    core.index().check();
    core.segments().prepare(core.log().activeRoomBytes());
    long replay = core.log().replayBytes();
    if (replay - checkpointed >= limits.checkpointBytes()) {
      core.index().checkpoint();
      checkpointed = replay;
    }
    if (compactor.emptyOne()) {
      compactor.free();
      checkpointed = replay;
    }
    for (int merges = 0; merges < MERGES_MAX && !isStopping; merges++) {
      if (core.segments().isFull() || !coalescer.mergeOne()) {
        break;
      }
    }
  }

  private void merge(
      ShardId shard, List<Extent> bases, List<Extent> patches, ByteBuffer payload, int[] crcs)
      throws ShardException {
    commit(
        merged -> new LogRequest.Merge(shard, bases, patches, payload, crcs, merged),
        payload.remaining());
  }

  /** Commits a request, then pauses for as long as its bytes should take. */
  private void commit(Function<Completion<DriveId>, LogRequest> request, long bytes)
      throws ShardException {
    if (isStopping) {
      throw new ShardException(ShardFault.UNAVAILABLE, "the drive is closing");
    }
    BlockingCompletion<DriveId> end = new BlockingCompletion<>();
    queue.add(request.apply(end));
    try {
      end.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("this thread is never interrupted", e);
    }
    LockSupport.parkNanos(
        this, TimeUnit.SECONDS.toNanos(1) * bytes / limits.compactionBytesPerSecond());
  }
}
