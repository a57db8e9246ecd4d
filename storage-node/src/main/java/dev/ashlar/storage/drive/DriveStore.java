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
 * The engine of one drive. A writer thread gathers what waits and makes it durable together; reads
 * run on the process's read threads; a housekeeper prepares segments, checkpoints and compacts.
 */
public final class DriveStore implements ShardStore, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveStore.class);

  /** How long opening waits for an index that is made anew; then that goes on by itself. */
  private static final Duration REBUILD_PATIENCE = Duration.ofSeconds(10);

  private final DriveConfig config;
  private final DriveDirectory folder;
  private final DriveMetrics meters;
  private final EngineKeeper keeper;
  private volatile Scrubber.@Nullable Task scrubbing;
  private volatile State state = State.OPEN;

  private enum State {
    OPEN,
    READ_ONLY,
    CLOSED
  }

  /**
   * Opens the drive, replaying what its index does not know; formats an empty folder. Where the
   * index has to be made anew and that takes long, the drive serves nothing until it is through.
   *
   * @throws IOException if the folder is not this drive's, is in use, or cannot be read
   */
  public static DriveStore open(DriveConfig config, DriveResources resources) throws IOException {
    return open(config, resources, UnaryOperator.identity());
  }

  /**
   * The same with something between the drive and the files of its folder.
   *
   * @param wrap given the folder's files, what the drive uses instead
   */
  public static DriveStore open(
      DriveConfig config, DriveResources resources, UnaryOperator<RawFiles> wrap)
      throws IOException {
    return open(config, resources, wrap, System::nanoTime, REBUILD_PATIENCE);
  }

  /**
   * @param nanoTime by which it is seen that the drive hangs
   * @param patience how long it waits for an index that is made anew
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
      store.keeper.open(patience);
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
    keeper = new EngineKeeper(context, folder, meters, this::opened);
    DriveGauges.register(meters, this, keeper);
  }

  /**
   * Reads from now on everything that the drive holds, again and again.
   *
   * @param listener is told what is damaged
   */
  public void startScrub(ScrubConfig scrubConfig, DamageListener listener) {
    Scrubber.Task wanted = new Scrubber.Task(scrubConfig, listener);
    scrubbing = wanted;
    DriveGauges.registerScrub(meters, this::scrubProgress);
    DriveEngine present = keeper.engine();
    if (present != null) {
      present.startScrub(wanted);
    }
  }

  /** Begins to read everything at once, and without sparing more than the bounded rate does. */
  public void scrubNow() {
    Scrubber running = scrubber();
    if (running != null) {
      running.startNow();
    }
  }

  /** How far that is; null before it was started. */
  public @Nullable ScrubProgress scrubProgress() {
    Scrubber running = scrubber();
    return running == null ? null : running.progress();
  }

  private @Nullable Scrubber scrubber() {
    DriveEngine present = keeper.engine();
    return present == null ? null : present.scrubber();
  }

  EngineKeeper keeper() {
    return keeper;
  }

  /** Looks whether it is well, as is done now and then. */
  void look() {
    DriveEngine present = keeper.engine();
    if (present != null) {
      present.looks().look();
    }
  }

  @Override
  public DriveId drive() {
    return keeper.drive();
  }

  /** Bytes that segments could take in all, as last looked at: nobody waits for the drive. */
  public long capacityBytes() {
    return DriveGauges.valueOf(keeper.engine(), engine -> engine.core().segments().capacityBytes());
  }

  /** Bytes that its segments take, likewise. */
  public long usedBytes() {
    return DriveGauges.valueOf(keeper.engine(), engine -> engine.core().segments().usedBytes());
  }

  /** Bytes of those used that are needed. */
  public long liveBytes() {
    return DriveGauges.valueOf(keeper.engine(), engine -> engine.core().segments().liveBytes());
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardException refusal = refusal();
    if (refusal != null) {
      return refusal.fault();
    }
    DriveEngine present = keeper.engine();
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

  /** What takes new data now. */
  private DriveEngine forNewData() throws ShardException {
    DriveEngine engine = writable();
    if (engine.hangs().hasFailed()) {
      throw new ShardException(ShardFault.READ_ONLY, drive() + " hangs, or did until just now");
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
    return keeper.readable();
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

  /** Tells of folds that are durable, but for those that were not there. */
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
    offerParts(drops, LogRequest.DropAll.DROPS_MAX, completion, LogRequest.DropAll::new);
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    offerParts(blobs, LogRequest.Delete.BLOBS_MAX, completion, LogRequest.Delete::new);
  }

  /** Offers a list as one request or, where it is long, as several. */
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
      DriveEngine engine = keeper.readable();
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
   * The first block of a shard of which, by the index, anything is not there as the view says; null
   * if all is. The caller waits for it.
   *
   * @param length of the shard in that state, at least 1
   */
  public @Nullable ByteRange firstMissing(ShardId shard, ShardView view, long length)
      throws ShardException {
    Optional<ByteRange> missing =
        lookUp(
            index ->
                Optional.ofNullable(new ShardInventory(index).firstMissing(shard, view, length)));
    return missing.orElse(null);
  }

  /** What is looked up in the index. */
  private interface LookUp<T> {
    T in(ShardIndex index) throws IOException;
  }

  private <T> T lookUp(LookUp<T> lookUp) throws ShardException {
    DriveEngine engine = keeper.readable();
    return engine.reads().lookUp(() -> lookUp.in(engine.core().index()));
  }

  /**
   * Finishes what was accepted, checkpoints the index, and lets go of the folder.
   *
   * @throws IOException also if the drive hangs: then everything stays open until the process ends,
   *     because closing files under calls that still run is not safe
   */
  @Override
  public void close() throws IOException {
    State before = state;
    if (before == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    boolean isClosed = keeper.close(before == State.OPEN);
    meters.close();
    if (!isClosed) {
      throw new IOException(drive() + " hangs and is left open");
    }
    folder.close();
  }

  private @Nullable ShardException refusal() {
    return switch (state) {
      case OPEN -> keeper.writeRefusal();
      case READ_ONLY ->
          new ShardException(ShardFault.READ_ONLY, drive() + " is read-only after a failed write");
      case CLOSED -> new ShardException(ShardFault.UNAVAILABLE, drive() + " is closed");
    };
  }

  /** Recovery trusts a payload that matches its checksums, so none may be wrong from the start. */
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

  /** An engine has started. */
  private void opened(DriveEngine engine) {
    Scrubber.Task wanted = scrubbing;
    if (wanted != null) {
      engine.startScrub(wanted);
    }
  }

  /**
   * Once anything has failed, nothing is written until the next start. Only a failed write or sync
   * of the log makes doubtful what the drive has, and ends its incarnation. A failure of the index
   * was told to the keeper, which mends it.
   */
  private void failed(Exception cause) {
    if (IndexException.in(cause) != null) {
      return;
    }
    boolean isInDoubt = cause instanceof LogWriteException;
    LOG.error(
        "drive {} ({}) is read-only until the process is started again, {}: {}",
        drive(),
        config.folder(),
        isInDoubt ? "and then in a new incarnation" : "with all that it has acknowledged",
        cause instanceof IOException ? cause.getMessage() : cause.toString());
    LOG.debug("drive {} failed here", drive(), cause);
    meters.ioError();
    if (state == State.OPEN) {
      state = State.READ_ONLY;
    }
    keeper.endWrites(isInDoubt);
    DriveEngine engine = keeper.engine();
    if (engine != null) {
      engine.endWrites(ShardFault.READ_ONLY);
      if (isInDoubt) {
        endLife(engine);
      }
    }
  }

  private void endLife(DriveEngine engine) {
    try {
      engine.core().endLife();
    } catch (IOException e) {
      LOG.error(
          "drive {} ({}): its new incarnation could not be noted: {}",
          drive(),
          config.folder(),
          e.toString());
    }
  }
}
