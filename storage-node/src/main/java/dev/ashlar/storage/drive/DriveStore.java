package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.AttemptPage;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.log.LogWriteException;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.read.ShardInventory;
import dev.ashlar.storage.drive.scrub.DamageListener;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import dev.ashlar.storage.drive.scrub.Scrubber;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A drive that stores shards. A writer thread commits waiting requests together, reads run on the
 * read threads of the process, and a housekeeper prepares segments, checkpoints the index and
 * compacts.
 */
public final class DriveStore implements ShardStore, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveStore.class);

  /** How long opening waits for an index rebuild before the rebuild continues in the background. */
  private static final Duration REBUILD_PATIENCE = Duration.ofSeconds(10);

  private final DriveDirectory folder;
  private final DriveMetrics meters;
  private final EngineSupervisor engines;
  private volatile Scrubber.@Nullable Task scrubbing;

  /** Whether somebody has asked for a scrub that has not begun. */
  private final AtomicBoolean isScrubRequested = new AtomicBoolean();

  private volatile boolean isClosed;

  /**
   * Opens the drive and replays the part of the log that its index lacks; formats an empty
   * directory. If rebuilding the index takes long, the returned drive refuses requests until the
   * rebuild is done.
   *
   * @throws IOException if the directory belongs to another drive, is in use, or cannot be read
   */
  public static DriveStore open(DriveConfig config, DriveResources resources) throws IOException {
    return open(config, resources, UnaryOperator.identity());
  }

  /**
   * Opens the drive with a wrapper around the files of its directory.
   *
   * @param wrap returns the files that the drive uses instead of the given ones
   */
  public static DriveStore open(
      DriveConfig config, DriveResources resources, UnaryOperator<RawFiles> wrap)
      throws IOException {
    return open(config, resources, wrap, System::nanoTime, REBUILD_PATIENCE);
  }

  /**
   * @param nanoTime clock for the detection of hanging I/O
   * @param patience how long to wait for an index rebuild
   */
  static DriveStore open(
      DriveConfig config,
      DriveResources resources,
      UnaryOperator<RawFiles> wrap,
      LongSupplier nanoTime,
      Duration patience)
      throws IOException {
    DriveDirectory folder = DriveDirectory.open(config, resources, wrap);
    DriveStore store = new DriveStore(config, resources, folder, nanoTime);
    try {
      store.engines.open(patience);
      return store;
    } catch (IOException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private DriveStore(
      DriveConfig config, DriveResources resources, DriveDirectory folder, LongSupplier nanoTime) {
    this.folder = folder;
    meters = new DriveMetrics(resources.meters(), folder.identity().drive().id().toString());
    DriveEngine.Context context =
        new DriveEngine.Context(config, resources, nanoTime, this::failed);
    engines = new EngineSupervisor(context, folder, meters, this::opened);
    new DriveGauges(meters, engines).register(this);
  }

  /**
   * Starts to scrub the drive: everything it holds is read periodically.
   *
   * @param listener called for each damaged block
   */
  public void startScrub(ScrubConfig scrubConfig, DamageListener listener) {
    Scrubber.Task wanted = new Scrubber.Task(scrubConfig, listener);
    scrubbing = wanted;
    new DriveGauges(meters, engines).registerScrub(this::scrubProgress);
    DriveEngine present = engines.engine();
    if (present != null) {
      present.startScrub(wanted);
      startRequestedScrub();
    }
  }

  /**
   * Starts a scrub now, limited only by the configured rate; while the index is being rebuilt, as
   * soon as that is done.
   */
  public void scrubNow() {
    isScrubRequested.set(true);
    if (!engines.isRecovering()) {
      startRequestedScrub();
    }
  }

  private void startRequestedScrub() {
    Scrubber running = scrubber();
    if (running != null && isScrubRequested.getAndSet(false)) {
      running.startNow();
    }
  }

  /** Progress of the scrub; null before it was started. */
  public @Nullable ScrubProgress scrubProgress() {
    Scrubber running = scrubber();
    return running == null ? null : running.progress();
  }

  private @Nullable Scrubber scrubber() {
    DriveEngine present = engines.engine();
    return present == null ? null : present.scrubber();
  }

  EngineSupervisor engines() {
    return engines;
  }

  void checkHealth() {
    DriveEngine present = engines.engine();
    if (present != null) {
      present.healthCheck().check();
    }
  }

  @Override
  public DriveId drive() {
    return engines.drive();
  }

  /** Capacity for segments, in bytes, as of the last check: the call never waits for the drive. */
  public long capacityBytes() {
    return ofSegments(SegmentFiles::capacityBytes);
  }

  /** Size of all segments, in bytes, as of the last check. */
  public long usedBytes() {
    return ofSegments(SegmentFiles::usedBytes);
  }

  public long liveBytes() {
    return ofSegments(SegmentFiles::liveBytes);
  }

  private long ofSegments(ToLongFunction<SegmentFiles> value) {
    return engines.value(engine -> value.applyAsLong(engine.core().segments()));
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardException refusal = refusal();
    if (refusal == null) {
      DriveEngine present = engines.engine();
      if (present == null) {
        return ShardFault.UNAVAILABLE;
      }
      refusal = present.newDataRefusal();
    }
    return refusal == null ? null : refusal.fault();
  }

  private DriveEngine forNewData() throws ShardException {
    DriveEngine engine = writable();
    ShardException refusal = engine.newDataRefusal();
    if (refusal != null) {
      throw refusal;
    }
    return engine;
  }

  private DriveEngine writable() throws ShardException {
    ShardException refusal = refusal();
    if (refusal != null) {
      throw refusal;
    }
    return engines.readable();
  }

  private @Nullable ShardException refusal() {
    return isClosed
        ? new ShardException(ShardFault.UNAVAILABLE, drive() + " is closed")
        : engines.writeRefusal();
  }

  /** The start of an operation. */
  private interface Start {
    void run() throws ShardException;
  }

  private static void start(Completion<?> completion, Start start) {
    try {
      start.run();
    } catch (ShardException e) {
      completion.failed(e);
    }
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    start(completion, () -> forNewData().write(write, completion));
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    start(completion, () -> forNewData().prepare(intent, completion));
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    start(completion, () -> writable().fold(folds, completion));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    start(completion, () -> writable().drop(drops, completion));
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    start(completion, () -> writable().delete(blobs, completion));
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    ShardRange range = range(shard, view, offset, length);
    start(completion, () -> engines.readable().read(range, completion));
  }

  @Override
  public @Nullable ShardData readCached(ShardId shard, ShardView view, long offset, int length) {
    ShardRange range = range(shard, view, offset, length);
    try {
      return engines.readable().readCached(range);
    } catch (ShardException e) {
      return null;
    }
  }

  private static ShardRange range(ShardId shard, ShardView view, long offset, int length) {
    if (offset < 0 || length < 1 || length > SlabPool.MAX_SLAB_BYTES - 2 * SegmentFormat.BLOCK) {
      throw new IllegalArgumentException("range " + offset + "+" + length);
    }
    return new ShardRange(shard, view, offset, length);
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return engines.readable().lookUp(index -> index.blobsBelow(session, after, max));
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return engines.readable().lookUp(index -> AttemptPage.of(index, session, after, max));
  }

  /**
   * The first block of a shard that, according to the index, is incomplete in the state of the
   * view; null if the shard is complete. Blocks the caller.
   *
   * @param length length of the shard in that state, at least 1
   */
  public @Nullable ByteRange firstMissing(ShardId shard, ShardView view, long length)
      throws ShardException {
    Optional<ByteRange> missing =
        engines
            .readable()
            .lookUp(
                index ->
                    Optional.ofNullable(ShardInventory.firstMissing(index, shard, view, length)));
    return missing.orElse(null);
  }

  /**
   * Completes accepted requests, checkpoints the index and unlocks the directory.
   *
   * @throws IOException also if the drive hangs; everything then stays open until the process ends,
   *     because closing files during running calls is not safe
   */
  @Override
  public void close() throws IOException {
    if (isClosed) {
      return;
    }
    isClosed = true;
    boolean hasEnded = engines.close();
    meters.close();
    if (!hasEnded) {
      throw new IOException(drive() + " hangs and is left open");
    }
    folder.close();
  }

  private void opened(DriveEngine engine) {
    Scrubber.Task wanted = scrubbing;
    if (wanted != null) {
      engine.startScrub(wanted);
      startRequestedScrub();
    }
  }

  /**
   * Makes the drive read-only until the next start. Only a failed write or sync of the log puts the
   * stored data in doubt and ends the incarnation. Failures of the index are reported to the
   * supervisor and recovered by it.
   */
  private void failed(Exception cause) {
    if (IndexException.in(cause) != null) {
      return;
    }
    boolean isInDoubt = cause instanceof LogWriteException;
    LOG.error(
        "Drive {} is read-only until the process is restarted, {}: {}",
        engines.label(),
        isInDoubt ? "and then starts a new incarnation" : "all acknowledged data is intact",
        cause instanceof IOException ? cause.getMessage() : cause.toString());
    LOG.debug("Drive {}: stack trace of the failure", drive(), cause);
    meters.ioError();
    engines.endWrites(isInDoubt);
    DriveEngine engine = engines.engine();
    if (engine != null) {
      engine.endWrites(ShardFault.READ_ONLY);
      if (isInDoubt) {
        endIncarnation(engine);
      }
    }
  }

  private void endIncarnation(DriveEngine engine) {
    try {
      engine.core().endIncarnation();
    } catch (IOException e) {
      LOG.error("Drive {}: writing the new incarnation failed: {}", engines.label(), e.toString());
    }
  }
}
