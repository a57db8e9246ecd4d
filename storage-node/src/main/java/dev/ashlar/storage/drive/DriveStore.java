package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AllOf;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.Drop;
import dev.ashlar.protocol.client.Fold;
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
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
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
  private static final Duration WATCH_PERIOD = Duration.ofMillis(500);

  private final DriveConfig config;
  private final DriveFolder folder;
  private final DriveCore core;
  private final DriveMeters meters;
  private final CommitQueue queue;
  private final Housekeeper housekeeper;
  private final DriveId drive;
  private final ReadLane reads;
  private final HangBound hangs;
  private final DriveWatch looks;
  private final IntentMaker intents;
  private final ScheduledFuture<?> watch;
  private final Clock clock;
  private final String name;
  private volatile @Nullable Scrubber scrubber;
  private volatile State state = State.OPEN;

  private enum State {
    OPEN,
    READ_ONLY,
    CLOSED
  }

  /**
   * Opens the drive, replaying what its index does not know; formats an empty folder.
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
    return open(config, resources, wrap, System::nanoTime);
  }

  /**
   * @param nanoTime by which it is seen that the drive hangs
   */
  static DriveStore open(
      DriveConfig config,
      DriveResources resources,
      UnaryOperator<RawFiles> wrap,
      LongSupplier nanoTime)
      throws IOException {
    DriveFolder folder = DriveFolder.open(config, resources, wrap);
    try {
      return new DriveStore(config, resources, folder, nanoTime);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private DriveStore(
      DriveConfig config, DriveResources resources, DriveFolder folder, LongSupplier nanoTime) {
    this.config = config;
    this.folder = folder;
    core = folder.core();
    meters = folder.meters();
    drive = core.drive();
    clock = resources.clock();
    name = config.folder().toAbsolutePath().getFileName().toString();
    queue = new CommitQueue(core.log(), config.limits(), drive, name, this::failed, nanoTime);
    reads =
        new ReadLane(
            drive, resources.readThreads(), resources.readsAtOnce(), config.limits(), nanoTime);
    hangs = new HangBound(config.limits(), nanoTime);
    intents = core.newIntentMaker(resources::code);
    housekeeper = new Housekeeper(core, config.limits(), queue, name, this::failed);
    registerGauges();
    queue.start();
    housekeeper.start();
    looks = new DriveWatch(config, drive, core.segments(), queue, reads, hangs);
    watch = resources.watch(looks::look, WATCH_PERIOD);
  }

  private void registerGauges() {
    Segments segments = core.segments();
    meters.gauge("ashlar.drive.queue.depth", "operations that wait", queue, CommitQueue::depth);
    meters.gauge(
        "ashlar.drive.capacity.bytes",
        "bytes that segments could take",
        segments,
        Segments::capacityBytes);
    meters.gauge("ashlar.drive.used.bytes", "bytes of segments", segments, Segments::usedBytes);
    meters.gauge("ashlar.drive.live.bytes", "bytes that are needed", segments, Segments::liveBytes);
    meters.gauge(
        "ashlar.drive.recent.bytes",
        "memory with blocks that changes wrote lately",
        core,
        DriveCore::recentBytes);
    meters.gauge("ashlar.drive.segments", "segments of the log", segments, Segments::count);
    meters.gauge(
        "ashlar.drive.writable", "1 if it takes new data", this, s -> s.isWritable() ? 1 : 0);
  }

  /**
   * Reads from now on everything that the drive holds, again and again.
   *
   * @param listener is told what is damaged
   */
  public void startScrub(ScrubConfig scrubConfig, DamageListener listener) throws IOException {
    Scrubber started =
        new Scrubber(
            core,
            scrubConfig,
            listener,
            () -> reads.inFlight() > 0 || queue.depth() > 0,
            clock,
            name);
    scrubber = started;
    meters.scrub(started);
    started.start();
  }

  /** Begins to read everything at once, and without sparing more than the bounded rate does. */
  public void scrubNow() {
    Scrubber running = scrubber;
    if (running != null) {
      running.startNow();
    }
  }

  /** How far that is; null before it was started. */
  public @Nullable ScrubProgress scrubProgress() {
    Scrubber running = scrubber;
    return running == null ? null : running.progress();
  }

  /** What looks now and then whether it is well. */
  DriveWatch looks() {
    return looks;
  }

  @Override
  public DriveId drive() {
    return drive;
  }

  /** Bytes that segments could take in all, as last looked at: nobody waits for the drive. */
  public long capacityBytes() {
    return core.segments().capacityBytes();
  }

  /** Bytes that its segments take, likewise. */
  public long usedBytes() {
    return core.segments().usedBytes();
  }

  /** Bytes of those used that are needed. */
  public long liveBytes() {
    return core.segments().liveBytes();
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardException refusal = refusal();
    if (refusal != null) {
      return refusal.fault();
    }
    if (hangs.hasFailed()) {
      return ShardFault.READ_ONLY;
    }
    if (queue.isStalled()) {
      return ShardFault.UNAVAILABLE;
    }
    return core.segments().isFull() ? ShardFault.FULL : null;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    ShardException refusal = newDataRefusal();
    if (refusal == null) {
      refusal = check(write);
    }
    if (refusal != null) {
      completion.failed(refusal);
    } else {
      offer(new LogRequest.Write(write, completion));
    }
  }

  private @Nullable ShardException newDataRefusal() {
    ShardException refusal = refusal();
    if (refusal != null) {
      return refusal;
    }
    if (hangs.hasFailed()) {
      return new ShardException(ShardFault.READ_ONLY, drive + " hangs, or did until just now");
    }
    return core.segments().isFull()
        ? new ShardException(ShardFault.FULL, drive + " is full")
        : null;
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    ShardException refusal = newDataRefusal();
    if (refusal == null && !IntentMaker.matches(intent)) {
      refusal = corrupt(intent.target().shard(), "the intent fails its checksums");
    }
    if (refusal != null) {
      completion.failed(refusal);
      return;
    }
    LogRequest ready;
    try {
      ready = intents.makeAtOnce(intent, completion);
    } catch (ShardException e) {
      completion.failed(e);
      return;
    }
    if (ready != null) {
      offer(ready);
    } else {
      reads.run(
          () -> {
            LogRequest request = intents.make(intent, completion);
            return () -> offer(request);
          },
          completion);
    }
  }

  @Override
  public void fold(List<Fold> folds, Completion<DriveId> completion) {
    offerParts(
        folds,
        LogRequest.FoldAll.FOLDS_MAX,
        completion,
        (some, told) -> {
          List<Fold> missing = new ArrayList<>();
          return new LogRequest.FoldAll(some, missing, new FoldEnd(missing, told));
        });
  }

  /** Tells of folds that are durable, but for those that were not there. */
  private record FoldEnd(List<Fold> missing, Completion<DriveId> completion)
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
  public void drop(List<Drop> drops, Completion<DriveId> completion) {
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
    ShardException refusal = refusal();
    if (refusal != null) {
      completion.failed(refusal);
    } else if (all.size() <= partMax) {
      offer(request.apply(List.copyOf(all), completion));
    } else {
      Completion<DriveId> whole = new AllOf<>(completion, Math.ceilDiv(all.size(), partMax));
      for (int from = 0; from < all.size(); from += partMax) {
        int to = Math.min(all.size(), from + partMax);
        offer(request.apply(List.copyOf(all.subList(from, to)), whole));
      }
    }
  }

  private void offer(LogRequest request) {
    ShardException refusal = queue.offer(request);
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
    ShardReader.Range range = new ShardReader.Range(shard, view, offset, length);
    reads.read(() -> core.reader().read(range), completion);
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return reads.lookUp(() -> core.index().blobsBelow(session, after, max));
  }

  @Override
  public List<Drop> attemptsBelow(long session, @Nullable Drop after, int max)
      throws ShardException {
    return reads.lookUp(() -> IntentPage.of(core.index(), session, after, max));
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
        reads.lookUp(
            () ->
                Optional.ofNullable(
                    new ShardInventory(core.index()).firstMissing(shard, view, length)));
    return missing.orElse(null);
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
    watch.cancel(false);
    Scrubber running = scrubber;
    boolean isScrubbed = running == null || running.stop(config.limits().stallTimeout());
    boolean isKept = housekeeper.stop();
    boolean isWritten = queue.stop();
    boolean isRead = reads.close();
    meters.close();
    if (!isScrubbed || !isKept || !isWritten || !isRead) {
      throw new IOException(drive + " hangs and is left open");
    }
    try (folder) {
      if (before == State.OPEN) {
        core.index().checkpoint();
      }
    }
  }

  private @Nullable ShardException refusal() {
    return switch (state) {
      case OPEN -> null;
      case READ_ONLY ->
          new ShardException(ShardFault.READ_ONLY, drive + " is read-only after a failed write");
      case CLOSED -> new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
    };
  }

  /** Recovery trusts a payload that matches its checksums, so none may be wrong from the start. */
  private @Nullable ShardException check(ShardWrite write) {
    ByteBuffer payload = write.payload().duplicate();
    int length = payload.remaining();
    if (length > config.limits().payloadBytesMax()) {
      throw new IllegalArgumentException("payload of " + length + " bytes");
    }
    int bad =
        new Checksum().firstMismatch(payload, payload.position(), length, write.blockCrcs(), 0);
    return bad < 0 ? null : corrupt(write.shard(), "payload block " + bad + " fails its checksum");
  }

  private static ShardException corrupt(ShardId shard, String what) {
    return new ShardException(ShardFault.CORRUPT, shard + ": " + what);
  }

  /**
   * Once anything has failed, nothing is written until the next start. Only a failed write or sync
   * of the log makes doubtful what the drive has, and ends its incarnation.
   */
  private void failed(Exception cause) {
    boolean isInDoubt = cause instanceof LogWriteException;
    LOG.error(
        "drive {} ({}) is read-only until the process is started again, {}: {}",
        drive,
        config.folder(),
        isInDoubt ? "and then in a new incarnation" : "with all that it has acknowledged",
        cause instanceof IOException ? cause.getMessage() : cause.toString());
    LOG.debug("drive {} failed here", drive, cause);
    meters.ioError();
    queue.refuseAll();
    core.endChanges();
    Scrubber running = scrubber;
    if (running != null) {
      running.end();
    }
    if (state == State.OPEN) {
      state = State.READ_ONLY;
    }
    if (isInDoubt) {
      endLife();
    }
  }

  private void endLife() {
    try {
      core.endLife();
    } catch (IOException e) {
      LOG.error(
          "drive {} ({}): its new incarnation could not be noted: {}",
          drive,
          config.folder(),
          e.toString());
    }
  }
}
