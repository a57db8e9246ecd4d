package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AllOf;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.read.DriveReadQueue;
import dev.ashlar.storage.drive.scrub.Scrubber;
import dev.ashlar.storage.drive.segment.Checksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.function.BiFunction;
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
    /** The drive for the log of the process. */
    String label(DriveId drive) {
      return drive + " (" + config.folder() + ")";
    }

    /** For the names of threads. */
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
    healthCheck =
        new DriveHealthCheck(
            config.limits(), context.label(core.drive()), core.segments(), queue, reads, hangs);
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

  /** Why new data is refused; null if it is accepted. */
  @Nullable ShardException newDataRefusal() {
    if (hangs.hasFailed()) {
      return refusal(ShardFault.READ_ONLY, " hangs or has just recovered from hanging");
    }
    if (queue.isStalled()) {
      return refusal(ShardFault.UNAVAILABLE, ": a write hangs");
    }
    return core.segments().isFull() ? refusal(ShardFault.FULL, " is full") : null;
  }

  private ShardException refusal(ShardFault fault, String why) {
    return new ShardException(fault, core.drive() + why);
  }

  void write(ShardWrite write, Completion<DriveId> completion) throws ShardException {
    check(write);
    offer(new LogRequest.Write(write, completion));
  }

  /** Recovery trusts a payload whose checksums match, so wrong checksums must not be stored. */
  private void check(ShardWrite write) throws ShardException {
    ByteBuffer payload = write.payload().duplicate();
    int length = payload.remaining();
    if (length > context.config().limits().payloadBytesMax()) {
      throw new IllegalArgumentException("payload of " + length + " bytes");
    }
    int bad =
        new Checksum().firstMismatch(payload, payload.position(), length, write.blockCrcs(), 0);
    if (bad >= 0) {
      throw corrupt(write.shard(), "payload block " + bad + " fails its checksum");
    }
  }

  private static ShardException corrupt(ShardId shard, String what) {
    return new ShardException(ShardFault.CORRUPT, shard + ": " + what);
  }

  void prepare(ShardIntent intent, Completion<DriveId> completion) throws ShardException {
    if (!IntentBuilder.matches(intent)) {
      throw corrupt(intent.target().shard(), "the intent fails its checksums");
    }
    LogRequest ready = intents.makeAtOnce(intent, completion);
    if (ready != null) {
      offer(ready);
      return;
    }
    reads.run(
        () -> {
          LogRequest request = intents.make(intent, completion);
          return () -> offer(request);
        },
        completion);
  }

  void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    offerParts(
        folds,
        LogRequest.FoldAll.FOLDS_MAX,
        completion,
        (some, told) -> {
          List<FoldIntent> missing = new ArrayList<>();
          return new LogRequest.FoldAll(some, missing, foldEnd(missing, told));
        });
  }

  /** Fails a durable request if some of its intents were not found. */
  private static Completion<DriveId> foldEnd(
      List<FoldIntent> missing, Completion<DriveId> completion) {
    return Completion.of(
        drive -> {
          if (missing.isEmpty()) {
            completion.succeeded(drive);
          } else {
            completion.failed(
                new ShardException(ShardFault.MISSING, "nothing to fold: " + missing.getFirst()));
          }
        },
        completion::failed);
  }

  void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    offerParts(drops, LogRequest.DiscardAll.DISCARDS_MAX, completion, LogRequest.DiscardAll::new);
  }

  void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    offerParts(blobs, LogRequest.Delete.BLOBS_MAX, completion, LogRequest.Delete::new);
  }

  /** Queues a list as one request or, if it is long, as several. */
  private <T> void offerParts(
      List<T> all,
      int partMax,
      Completion<DriveId> completion,
      BiFunction<List<T>, Completion<DriveId>, LogRequest> request) {
    AllOf.inParts(
        all, partMax, completion, (some, told) -> offer(request.apply(List.copyOf(some), told)));
  }

  private void offer(LogRequest request) {
    ShardException refusal = queue.offer(request);
    if (refusal != null) {
      request.completion().failed(refusal);
    }
  }

  void read(ShardRange range, Completion<ShardData> completion) {
    reads.read(() -> core.reader().read(range), completion);
  }

  /** What of the range is in memory; null if it is not all. */
  @Nullable ShardData readCached(ShardRange range) {
    return reads.readCached(() -> core.reader().readCached(range));
  }

  /** A query of the index. */
  interface LookUp<T> {
    T in(ShardIndex index) throws IOException;
  }

  <T> T lookUp(LookUp<T> lookUp) throws ShardException {
    return reads.lookUp(() -> lookUp.in(core.index()));
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
