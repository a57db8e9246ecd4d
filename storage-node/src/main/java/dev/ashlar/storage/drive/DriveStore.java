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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one drive. A writer thread gathers what waits and makes it durable together; reads
 * run on the process's read threads; a housekeeper prepares segments, checkpoints and compacts.
 */
public final class DriveStore implements ShardStore, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveStore.class);
  private static final long CLOSE_POLL_NANOS = 200_000;

  private final DriveConfig config;
  private final DriveResources resources;
  private final DriveFolder folder;
  private final DriveCore core;
  private final DriveMeters meters;
  private final CommitQueue queue;
  private final Housekeeper housekeeper;
  private final DriveId drive;
  private final AtomicInteger readsInFlight = new AtomicInteger();
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
    DriveFolder folder = DriveFolder.open(config, resources);
    try {
      return new DriveStore(config, resources, folder);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private DriveStore(DriveConfig config, DriveResources resources, DriveFolder folder) {
    this.config = config;
    this.resources = resources;
    this.folder = folder;
    core = folder.core();
    meters = folder.meters();
    drive = core.drive();
    String name = config.folder().toAbsolutePath().getFileName().toString();
    queue = new CommitQueue(core.log(), config.limits(), drive, name, this::failed);
    housekeeper = new Housekeeper(core, config.limits(), queue, name, this::failed);
    registerGauges();
    queue.start();
    housekeeper.start();
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

  /** Whether segments are written past the page cache. */
  public boolean isDirect() {
    return folder.isDirect();
  }

  @Override
  public boolean isWritable() {
    return state == State.OPEN && !core.segments().isFull();
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
    ShardException refusal = beginRead();
    if (refusal != null) {
      completion.failed(refusal);
      return;
    }
    try {
      resources.readers().execute(() -> runRead(shard, offset, length, completion));
    } catch (RejectedExecutionException e) {
      readsInFlight.decrementAndGet();
      completion.failed(new ShardException(ShardFault.UNAVAILABLE, drive + " is shutting down"));
    }
  }

  private void runRead(ShardId shard, long offset, int length, Completion<ShardData> completion) {
    ShardData data;
    try {
      data = core.reader().read(shard, offset, length);
    } catch (ShardException e) {
      readsInFlight.decrementAndGet();
      completion.failed(e);
      return;
    } catch (RuntimeException | Error e) {
      readsInFlight.decrementAndGet();
      LOG.error("drive {}: a read of {} failed", drive, shard, e);
      completion.failed(new ShardException(ShardFault.IO_ERROR, shard + ": " + e, e));
      return;
    }
    readsInFlight.decrementAndGet();
    completion.succeeded(data);
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws ShardException {
    ShardException refusal = beginRead();
    if (refusal != null) {
      throw refusal;
    }
    try {
      core.index().forEachBlobBelow(session, visitor);
    } catch (IOException e) {
      throw new ShardException(ShardFault.IO_ERROR, drive + ": " + e.getMessage(), e);
    } finally {
      readsInFlight.decrementAndGet();
    }
  }

  /** Finishes what was accepted, checkpoints the index, and lets go of the folder. */
  @Override
  public void close() throws IOException {
    State before = state;
    if (before == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    housekeeper.stop();
    queue.stop();
    while (readsInFlight.get() > 0) {
      LockSupport.parkNanos(CLOSE_POLL_NANOS);
    }
    meters.close();
    try (folder) {
      if (before == State.OPEN) {
        core.index().checkpoint();
      }
    }
  }

  private @Nullable ShardException beginRead() {
    if (readsInFlight.incrementAndGet() > config.limits().queuedReadsMax()) {
      readsInFlight.decrementAndGet();
      return new ShardException(ShardFault.OVERLOADED, drive + ": too many reads");
    }
    if (state == State.CLOSED) {
      readsInFlight.decrementAndGet();
      return new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
    }
    return null;
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
    LOG.error("drive {} is read-only from now on", drive, cause);
    meters.ioError();
    queue.refuseAll();
    if (state == State.OPEN) {
      state = State.READ_ONLY;
    }
    try {
      core.endLife();
    } catch (IOException e) {
      LOG.error("drive {}: its new incarnation could not be noted", drive, e);
    }
  }
}
