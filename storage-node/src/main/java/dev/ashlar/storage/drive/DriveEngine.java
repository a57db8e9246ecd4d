package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.read.DriveReadQueue;
import dev.ashlar.storage.drive.scrub.Scrubber;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open index and log of a drive with the threads that work on them. After a failure of the
 * index the drive gets a new engine.
 */
final class DriveEngine {
  private static final Duration WATCH_PERIOD = Duration.ofMillis(500);

  private final Context context;
  private final RocksShardIndex index;
  private final DriveCore core;
  private final CommitQueue queue;
  private final DriveReadQueue reads;
  private final HangDetector hangs;
  private final IntentBuilder intents;
  private final Housekeeper housekeeper;
  private final DriveHealthCheck healthCheck;
  private @Nullable ScheduledFuture<?> watch;
  private volatile @Nullable Scrubber scrubber;
  private boolean isEnded;

  /**
   * What all engines of a drive share.
   *
   * @param nanoTime clock for the detection of hanging I/O
   * @param onFailure called when writes must end
   */
  record Context(
      DriveConfig config,
      DriveResources resources,
      LongSupplier nanoTime,
      Consumer<Exception> onFailure) {
    String name() {
      return config.folder().toAbsolutePath().getFileName().toString();
    }
  }

  DriveEngine(Context context, RocksShardIndex index, DriveCore core) {
    this.context = context;
    this.index = index;
    this.core = core;
    DriveConfig config = context.config();
    DriveResources resources = context.resources();
    queue =
        new CommitQueue(
            core.log(),
            config.limits(),
            core.drive(),
            context.name(),
            context.onFailure(),
            context.nanoTime());
    reads =
        new DriveReadQueue(
            core.drive(),
            resources.readThreads(),
            resources.readsAtOnce(),
            config.limits(),
            context.nanoTime());
    hangs = new HangDetector(config.limits(), context.nanoTime());
    intents = core.newIntentMaker(resources::code);
    housekeeper =
        new Housekeeper(core, config.limits(), queue, context.name(), context.onFailure());
    healthCheck = new DriveHealthCheck(config, core.drive(), core.segments(), queue, reads, hangs);
  }

  void start() {
    queue.start();
    housekeeper.start();
    watch = context.resources().watch(healthCheck::check, WATCH_PERIOD);
  }

  /** Starts the scrub unless it runs already or the engine has ended. */
  void startScrub(Scrubber.Task task) {
    Scrubber started =
        new Scrubber(
            core.drive(),
            core.index(),
            throttle -> core.newScrub(throttle, context.resources().clock()),
            task,
            () -> reads.inFlight() > 0 || queue.depth() > 0,
            context.name());
    synchronized (this) {
      if (!isEnded && scrubber == null) {
        scrubber = started;
        started.start();
      }
    }
  }

  /** Ends scrubbing: no other scrub can be started. */
  private synchronized @Nullable Scrubber endScrub() {
    isEnded = true;
    return scrubber;
  }

  @Nullable Scrubber scrubber() {
    return scrubber;
  }

  DriveCore core() {
    return core;
  }

  CommitQueue queue() {
    return queue;
  }

  DriveReadQueue reads() {
    return reads;
  }

  HangDetector hangs() {
    return hangs;
  }

  IntentBuilder intents() {
    return intents;
  }

  DriveHealthCheck healthCheck() {
    return healthCheck;
  }

  /**
   * Ends writes without waiting.
   *
   * @param refusal the fault reported to later writes
   */
  void endWrites(ShardFault refusal) {
    queue.refuseAll(refusal);
    housekeeper.end();
    core.endChanges();
    Scrubber running = scrubber;
    if (running != null) {
      running.end();
    }
  }

  /**
   * Completes accepted requests and ends the threads.
   *
   * @return false if something hangs: nothing can be closed then, but the call may be repeated
   */
  boolean stop() {
    if (watch != null) {
      watch.cancel(false);
    }
    Duration timeout = context.config().limits().stallTimeout();
    Scrubber running = endScrub();
    boolean isScrubbed = running == null || running.stop(timeout);
    boolean isWritten = stopWrites();
    boolean isRead = reads.close();
    return isScrubbed && isWritten && isRead;
  }

  /**
   * Completes accepted writes and ends the threads that write.
   *
   * @return false if something hangs; the call may be repeated
   */
  boolean stopWrites() {
    boolean isKept = housekeeper.stop();
    boolean isWritten = queue.stop();
    return isKept && isWritten;
  }

  void checkpoint() throws IOException {
    index.checkpoint();
  }

  /** Closes the files, after all threads have ended. */
  void close() throws IOException {
    index.close();
    core.close();
  }
}
