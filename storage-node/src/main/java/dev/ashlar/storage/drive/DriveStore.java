package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
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
  private final ScheduledFuture<?> watch;
  private boolean wasHanging;
  private boolean wasFull;
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

  static DriveStore open(DriveConfig config, DriveResources resources, UnaryOperator<RawFiles> wrap)
      throws IOException {
    DriveFolder folder = DriveFolder.open(config, resources, wrap);
    try {
      return new DriveStore(config, resources, folder);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private DriveStore(DriveConfig config, DriveResources resources, DriveFolder folder) {
    this.config = config;
    this.folder = folder;
    core = folder.core();
    meters = folder.meters();
    drive = core.drive();
    String name = config.folder().toAbsolutePath().getFileName().toString();
    queue =
        new CommitQueue(core.log(), config.limits(), drive, name, this::failed, System::nanoTime);
    reads = new ReadLane(drive, name, resources.readThreads(), config.limits(), System::nanoTime);
    housekeeper = new Housekeeper(core, config.limits(), queue, name, this::failed);
    registerGauges();
    warnIfTooSmall();
    queue.start();
    housekeeper.start();
    watch = resources.watch(this::look, WATCH_PERIOD);
  }

  private void warnIfTooSmall() {
    long capacity = core.segments().capacityBytes();
    long needed = config.limits().capacityBytesMin();
    if (capacity < needed) {
      LOG.warn(
          "drive {} ({}) is too small for any data: it has room for {} bytes, {} are needed",
          drive,
          config.folder(),
          capacity,
          needed);
    }
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
    meters.gauge("ashlar.drive.segments", "segments of the log", segments, Segments::count);
    meters.gauge(
        "ashlar.drive.writable", "1 if it takes new data", this, s -> s.isWritable() ? 1 : 0);
  }

  @Override
  public DriveId drive() {
    return drive;
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardException refusal = refusal();
    if (refusal != null) {
      return refusal.fault();
    }
    if (queue.isStalled()) {
      return ShardFault.UNAVAILABLE;
    }
    return core.segments().isFull() ? ShardFault.FULL : null;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    ShardException refusal = refusal();
    if (refusal == null && core.segments().isFull()) {
      refusal = new ShardException(ShardFault.FULL, drive + " is full");
    }
    if (refusal == null) {
      refusal = check(write);
    }
    if (refusal == null) {
      refusal = queue.offer(new LogRequest.Write(write, completion));
    }
    if (refusal != null) {
      completion.failed(refusal);
    }
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    ShardException refusal = refusal();
    if (refusal != null) {
      completion.failed(refusal);
    } else if (blobs.size() <= LogRequest.Delete.BLOBS_MAX) {
      offerDelete(blobs, completion);
    } else {
      int parts = Math.ceilDiv(blobs.size(), LogRequest.Delete.BLOBS_MAX);
      Completion<DriveId> all = new AllOf<>(completion, parts);
      for (int from = 0; from < blobs.size(); from += LogRequest.Delete.BLOBS_MAX) {
        int to = Math.min(blobs.size(), from + LogRequest.Delete.BLOBS_MAX);
        offerDelete(blobs.subList(from, to), all);
      }
    }
  }

  private void offerDelete(List<BlobId> blobs, Completion<DriveId> completion) {
    ShardException refusal = queue.offer(new LogRequest.Delete(List.copyOf(blobs), completion));
    if (refusal != null) {
      completion.failed(refusal);
    }
  }

  @Override
  public void read(ShardId shard, long offset, int length, Completion<ShardData> completion) {
    if (offset < 0 || length < 1 || length > SlabPool.MAX_SLAB_BYTES - 2 * SegmentFormat.BLOCK) {
      throw new IllegalArgumentException("range " + offset + "+" + length);
    }
    reads.read(() -> core.reader().read(shard, offset, length), completion);
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws ShardException {
    ShardException refusal = reads.begin();
    if (refusal != null) {
      throw refusal;
    }
    try {
      core.index().forEachBlobBelow(session, visitor);
    } catch (IOException e) {
      throw new ShardException(ShardFault.IO_ERROR, drive + ": " + e.getMessage(), e);
    } finally {
      reads.end();
    }
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
    boolean isKept = housekeeper.stop();
    boolean isWritten = queue.stop();
    boolean isRead = reads.close();
    meters.close();
    if (!isKept || !isWritten || !isRead) {
      throw new IOException(drive + " hangs and is left open");
    }
    try (folder) {
      if (before == State.OPEN) {
        core.index().checkpoint();
      }
    }
  }

  /** Tells once of each change, and lets nobody wait behind what hangs. */
  private void look() {
    boolean isFull = core.segments().isFull();
    if (isFull && !wasFull) {
      LOG.warn(
          "drive {} ({}) is full: it takes no new data until deletes have freed space",
          drive,
          config.folder());
    } else if (wasFull && !isFull) {
      LOG.info("drive {} ({}) has room again", drive, config.folder());
    }
    wasFull = isFull;
    lookForHang();
  }

  private void lookForHang() {
    boolean writesHang = queue.isStalled();
    boolean readsHang = reads.isStalled();
    if (writesHang) {
      queue.dropWaiting();
    }
    if (readsHang) {
      reads.dropWaiting();
    }
    boolean isHanging = writesHang || readsHang;
    if (isHanging && !wasHanging) {
      LOG.error(
          "drive {} ({}) hangs: {} made no progress for {} s; it is left out until they come back",
          drive,
          config.folder(),
          writesHang ? "writes" : "reads",
          config.limits().stallTimeout().toSeconds());
    } else if (wasHanging && !isHanging) {
      LOG.warn("drive {} ({}) answers again", drive, config.folder());
    }
    wasHanging = isHanging;
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
    return bad < 0
        ? null
        : new ShardException(
            ShardFault.CORRUPT, write.shard() + ": payload block " + bad + " fails its checksum");
  }

  /** Once a write, sync or index change has failed, nothing is written until the next start. */
  private void failed(Exception cause) {
    LOG.error(
        "drive {} ({}) is read-only from now on: {}",
        drive,
        config.folder(),
        cause instanceof IOException ? cause.getMessage() : cause.toString());
    LOG.debug("drive {} failed here", drive, cause);
    meters.ioError();
    queue.refuseAll();
    if (state == State.OPEN) {
      state = State.READ_ONLY;
    }
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
