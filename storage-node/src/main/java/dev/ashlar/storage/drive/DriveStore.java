package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AllOf;
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
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.AttemptPage;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogWriteException;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.read.ShardInventory;
import dev.ashlar.storage.drive.scrub.DamageListener;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import dev.ashlar.storage.drive.scrub.Scrubber;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
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

  private final DriveConfig config;
  private final DriveDirectory folder;
  private final DriveMetrics meters;
  private final EngineSupervisor engines;
  private volatile Scrubber.@Nullable Task scrubbing;
  private volatile State state = State.OPEN;

  private enum State {
    OPEN,
    READ_ONLY,
    CLOSED
  }

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
    this.config = config;
    this.folder = folder;
    meters = new DriveMetrics(resources.meters(), folder.identity().drive().id().toString());
    DriveEngine.Context context =
        new DriveEngine.Context(config, resources, nanoTime, this::failed);
    engines = new EngineSupervisor(context, folder, meters, this::opened);
    DriveGauges.register(meters, this, engines);
  }

  /**
   * Starts to scrub the drive: everything it holds is read periodically.
   *
   * @param listener called for each damaged block
   */
  public void startScrub(ScrubConfig scrubConfig, DamageListener listener) {
    Scrubber.Task wanted = new Scrubber.Task(scrubConfig, listener);
    scrubbing = wanted;
    DriveGauges.registerScrub(meters, this::scrubProgress);
    DriveEngine present = engines.engine();
    if (present != null) {
      present.startScrub(wanted);
    }
  }

  /** Starts a scrub now, limited only by the configured rate. */
  public void scrubNow() {
    Scrubber running = scrubber();
    if (running != null) {
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
    return DriveGauges.valueOf(
        engines.engine(), engine -> engine.core().segments().capacityBytes());
  }

  /** Size of all segments, in bytes, as of the last check. */
  public long usedBytes() {
    return DriveGauges.valueOf(engines.engine(), engine -> engine.core().segments().usedBytes());
  }

  public long liveBytes() {
    return DriveGauges.valueOf(engines.engine(), engine -> engine.core().segments().liveBytes());
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardException refusal = refusal();
    if (refusal != null) {
      return refusal.fault();
    }
    DriveEngine present = engines.engine();
    if (present == null) {
      return ShardFault.UNAVAILABLE;
    }
    if (present.hangs().hasFailed()) {
      return ShardFault.READ_ONLY;
    }
    if (present.queue().isStalled()) {
      return ShardFault.UNAVAILABLE;
    }
    return present.core().segments().isFull() ? ShardFault.FULL : null;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    try {
      DriveEngine engine = forNewData();
      check(write);
      offer(engine, new LogRequest.Write(write, completion));
    } catch (ShardException e) {
      completion.failed(e);
    }
  }

  private DriveEngine forNewData() throws ShardException {
    DriveEngine engine = writable();
    if (engine.hangs().hasFailed()) {
      throw new ShardException(
          ShardFault.READ_ONLY, drive() + " hangs or has just recovered from hanging");
    }
    if (engine.core().segments().isFull()) {
      throw new ShardException(ShardFault.FULL, drive() + " is full");
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

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    try {
      DriveEngine engine = forNewData();
      if (!IntentBuilder.matches(intent)) {
        throw corrupt(intent.target().shard(), "the intent fails its checksums");
      }
      LogRequest ready = engine.intents().makeAtOnce(intent, completion);
      if (ready != null) {
        offer(engine, ready);
        return;
      }
      engine
          .reads()
          .run(
              () -> {
                LogRequest request = engine.intents().make(intent, completion);
                return () -> offer(engine, request);
              },
              completion);
    } catch (ShardException e) {
      completion.failed(e);
    }
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    offerParts(
        folds,
        LogRequest.FoldAll.FOLDS_MAX,
        completion,
        (some, told) -> {
          List<FoldIntent> missing = new ArrayList<>();
          return new LogRequest.FoldAll(some, missing, new FoldEnd(missing, told));
        });
  }

  /** Fails a durable request if some of its intents were not found. */
  private record FoldEnd(List<FoldIntent> missing, Completion<DriveId> completion)
      implements Completion<DriveId> {
    @Override
    public void succeeded(DriveId drive) {
      if (missing.isEmpty()) {
        completion.succeeded(drive);
      } else {
        completion.failed(
            new ShardException(ShardFault.MISSING, "nothing to fold: " + missing.getFirst()));
      }
    }

    @Override
    public void failed(ShardException failure) {
      completion.failed(failure);
    }
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    offerParts(drops, LogRequest.DiscardAll.DISCARDS_MAX, completion, LogRequest.DiscardAll::new);
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    offerParts(blobs, LogRequest.Delete.BLOBS_MAX, completion, LogRequest.Delete::new);
  }

  /** Queues a list as one request or, if it is long, as several. */
  private <T> void offerParts(
      List<T> all,
      int partMax,
      Completion<DriveId> completion,
      BiFunction<List<T>, Completion<DriveId>, LogRequest> request) {
    DriveEngine engine;
    try {
      engine = writable();
    } catch (ShardException e) {
      completion.failed(e);
      return;
    }
    if (all.size() <= partMax) {
      offer(engine, request.apply(List.copyOf(all), completion));
      return;
    }
    Completion<DriveId> whole = new AllOf<>(completion, Math.ceilDiv(all.size(), partMax));
    for (int from = 0; from < all.size(); from += partMax) {
      int to = Math.min(all.size(), from + partMax);
      offer(engine, request.apply(List.copyOf(all.subList(from, to)), whole));
    }
  }

  private static void offer(DriveEngine engine, LogRequest request) {
    ShardException refusal = engine.queue().offer(request);
    if (refusal != null) {
      request.completion().failed(refusal);
    }
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    if (offset < 0 || length < 1 || length > SlabPool.MAX_SLAB_BYTES - 2 * SegmentFormat.BLOCK) {
      throw new IllegalArgumentException("range " + offset + "+" + length);
    }
    ShardRange range = new ShardRange(shard, view, offset, length);
    try {
      DriveEngine engine = engines.readable();
      engine.reads().read(() -> engine.core().reader().read(range), completion);
    } catch (ShardException e) {
      completion.failed(e);
    }
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return lookUp(index -> index.blobsBelow(session, after, max));
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return lookUp(index -> AttemptPage.of(index, session, after, max));
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
        lookUp(
            index ->
                Optional.ofNullable(new ShardInventory(index).firstMissing(shard, view, length)));
    return missing.orElse(null);
  }

  /** A query of the index. */
  private interface LookUp<T> {
    T in(ShardIndex index) throws IOException;
  }

  private <T> T lookUp(LookUp<T> lookUp) throws ShardException {
    DriveEngine engine = engines.readable();
    return engine.reads().lookUp(() -> lookUp.in(engine.core().index()));
  }

  /**
   * Completes accepted requests, checkpoints the index and unlocks the directory.
   *
   * @throws IOException also if the drive hangs; everything then stays open until the process ends,
   *     because closing files during running calls is not safe
   */
  @Override
  public void close() throws IOException {
    State before = state;
    if (before == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    boolean isClosed = engines.close(before == State.OPEN);
    meters.close();
    if (!isClosed) {
      throw new IOException(drive() + " hangs and is left open");
    }
    folder.close();
  }

  private @Nullable ShardException refusal() {
    return switch (state) {
      case OPEN -> engines.writeRefusal();
      case READ_ONLY ->
          new ShardException(ShardFault.READ_ONLY, drive() + " is read-only after a failed write");
      case CLOSED -> new ShardException(ShardFault.UNAVAILABLE, drive() + " is closed");
    };
  }

  /** Recovery trusts a payload whose checksums match, so wrong checksums must not be stored. */
  private void check(ShardWrite write) throws ShardException {
    ByteBuffer payload = write.payload().duplicate();
    int length = payload.remaining();
    if (length > config.limits().payloadBytesMax()) {
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

  private void opened(DriveEngine engine) {
    Scrubber.Task wanted = scrubbing;
    if (wanted != null) {
      engine.startScrub(wanted);
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
        "Drive {} ({}) is read-only until the process is restarted, {}: {}",
        drive(),
        config.folder(),
        isInDoubt ? "and then starts a new incarnation" : "all acknowledged data is intact",
        cause instanceof IOException ? cause.getMessage() : cause.toString());
    LOG.debug("Drive {}: stack trace of the failure", drive(), cause);
    meters.ioError();
    if (state == State.OPEN) {
      state = State.READ_ONLY;
    }
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
      LOG.error(
          "Drive {} ({}): writing the new incarnation failed: {}",
          drive(),
          config.folder(),
          e.toString());
    }
  }
}
