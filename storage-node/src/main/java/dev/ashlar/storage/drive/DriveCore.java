package dev.ashlar.storage.drive;

import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.cache.ChangedShards;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.compact.UnreadableDirectories;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRecovery;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LostChanges;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.read.ShardReader;
import dev.ashlar.storage.drive.scrub.DamageListener;
import dev.ashlar.storage.drive.scrub.ScrubPass;
import dev.ashlar.storage.drive.scrub.SegmentVerifier;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An open drive without threads: its identity, segments, index and log. */
final class DriveCore {
  private static final Logger LOG = LoggerFactory.getLogger(DriveCore.class);

  private final OpenContext context;
  private final OpenDrive drive;
  private final UnreadableDirectories unreadableDirectories = new UnreadableDirectories();
  private final SegmentLog log;
  private final ShardReader reader;
  private DriveIdentity identity;

  /**
   * What is known about a drive before it is opened.
   *
   * @param drive the expected drive; null: any
   * @param epochSecond the current time or later, a lower bound for new incarnations
   * @param drivesOnFileSystem number of open drives on the same file system, including this one
   * @param onLoss called with what is lost of the log
   */
  record OpenContext(
      UUID cluster,
      @Nullable UUID drive,
      long epochSecond,
      IntSupplier drivesOnFileSystem,
      Consumer<String> onLoss) {
    OpenContext(
        UUID cluster, @Nullable UUID drive, long epochSecond, IntSupplier drivesOnFileSystem) {
      this(cluster, drive, epochSecond, drivesOnFileSystem, what -> {});
    }

    /** For a drive that has a file system of its own. */
    OpenContext(UUID cluster, @Nullable UUID drive, long epochSecond) {
      this(cluster, drive, epochSecond, () -> 1);
    }
  }

  /** What a drive works with, besides its files. */
  record Parts(ShardIndex index, SlabPool slabs, RecentBlockMemory recent, DriveMetrics meters) {}

  /** Opens the log and replays it to the index. */
  DriveCore(RawFiles files, DriveConfig.Limits limits, OpenContext context, Parts parts)
      throws IOException {
    this.context = context;
    identity = DriveIdentity.readToWrite(files);
    ShardIndex index = parts.index();
    drive =
        new OpenDrive(
            identity.drive().id(),
            limits,
            files,
            new SegmentFiles(
                files, limits, index.segments(), context.drivesOnFileSystem(), parts.meters()),
            index,
            ChangedShards.of(index, parts.recent()),
            parts.slabs(),
            parts.meters());
    boolean areLostSinceBefore = identity.changesLost();
    try {
      LogRecovery.Recovered recovered = LogRecovery.run(drive, new Damages());
      log = new SegmentLog(drive, recovered);
      reader = newReader(drive.meters()::read);
      if (areLostSinceBefore) {
        recovered.lost().addAll(); // the extent of that damage is unknown
      }
      if (identity.changesLost()) {
        deleteBlobsInDoubt(recovered.lost());
      }
    } catch (IOException | RuntimeException | Error e) {
      drive.segments().close();
      throw e;
    }
  }

  /**
   * Reads the identity of the drive in a directory. Formats an empty directory and refuses any
   * other drive.
   */
  static DriveIdentity identify(RawFiles files, OpenContext context) throws IOException {
    if (!files.list().contains(DriveIdentity.FILE)) {
      return format(files, context);
    }
    DriveIdentity found = DriveIdentity.read(files);
    if (!found.cluster().equals(context.cluster())) {
      throw new IOException(
          "this is a drive of cluster "
              + found.cluster()
              + ", not of this cluster, "
              + context.cluster());
    }
    if (context.drive() != null && !found.drive().id().equals(context.drive())) {
      throw new IOException(
          "this is drive " + found.drive().id() + "; drive " + context.drive() + " belongs here");
    }
    return found;
  }

  private static DriveIdentity format(RawFiles files, OpenContext context) throws IOException {
    for (String name : files.list()) {
      if (Segment.isSegment(name)) {
        throw new IOException(
            "there are segments but no " + DriveIdentity.FILE + ": this drive lost its identity");
      }
    }
    UUID id = context.drive() != null ? context.drive() : UUID.randomUUID();
    DriveIdentity fresh =
        new DriveIdentity(
            context.cluster(), new DriveId(id, Math.max(1, context.epochSecond())), false);
    fresh.create(files);
    LOG.info("Formatted drive {}", fresh.drive());
    return fresh;
  }

  DriveId drive() {
    return identity.drive();
  }

  SegmentFiles segments() {
    return drive.segments();
  }

  SegmentLog log() {
    return log;
  }

  ShardReader reader() {
    return reader;
  }

  ShardIndex index() {
    return drive.index();
  }

  Compactor newCompactor(Compactor.Mover mover) {
    return new Compactor(drive, log, unreadableDirectories, mover);
  }

  ExtentMerger newCoalescer(ExtentMerger.Merger merger) {
    return new ExtentMerger(drive, newReader(drive.meters()::readToMerge), merger);
  }

  IntentBuilder newIntentMaker(Function<Profile, ErasureCode> codes) {
    return new IntentBuilder(drive, reader, codes);
  }

  ScrubPass newScrub(ReadThrottle throttle, Clock clock) {
    return new ScrubPass(
        drive,
        log,
        listener -> newSegmentVerifier(throttle, listener),
        unreadableDirectories,
        clock);
  }

  SegmentVerifier newSegmentVerifier(ReadThrottle throttle, DamageListener listener) {
    return new SegmentVerifier(drive, log, throttle, listener);
  }

  private ShardReader newReader(IntConsumer onFileRead) {
    return new ShardReader(drive, onFileRead);
  }

  MergeCandidates mergeCandidates() {
    return drive.changed().toMerge();
  }

  /** Ends the incarnation: the next start begins a new one. */
  void endIncarnation() throws IOException {
    identity.nextIncarnation(context.epochSecond()).write(drive.files());
  }

  /** Memory used by recently changed blocks. */
  long recentBytes() {
    return drive.changed().recent().bytes();
  }

  /** Frees memory that only helps with changes, when there will be none. */
  void endChanges() {
    drive.changed().recent().close();
  }

  void close() throws IOException {
    endChanges();
    drive.segments().close();
  }

  /**
   * Begins a new incarnation at the first loss found by recovery, before any later record is used.
   */
  private final class Damages implements LogRecovery.DamageHandler {
    @Override
    public void lost(String what) throws IOException {
      LOG.error("Drive {}: {}", identity.drive(), what);
      context.onLoss().accept(what);
      DriveIdentity next = identity.nextIncarnation(context.epochSecond()).withChangesLost(true);
      next.write(drive.files());
      identity = next;
    }

    @Override
    public void probe() throws IOException {
      identity.write(drive.files());
    }
  }

  /**
   * Deletes changed shards that may have lost records: they could show bytes of a state that never
   * existed. They count as lost and are rebuilt.
   */
  private void deleteBlobsInDoubt(LostChanges lost) throws IOException {
    AtomicLong deleted = new AtomicLong();
    lost.forEachIn(
        index(),
        LogRequest.Delete.BLOBS_MAX,
        some -> {
          delete(some);
          deleted.addAndGet(some.size());
        });
    if (deleted.get() > 0) {
      LOG.error(
          "Drive {}: deleted {} changed blobs that may lack changes from the damaged part"
              + " of the log; they are rebuilt from other drives",
          drive(),
          deleted);
    }
    identity = identity.withChangesLost(false);
    identity.write(drive.files());
  }

  private void delete(List<BlobId> blobs) throws IOException {
    log.add(new LogRequest.Delete(blobs, Completion.of(drive -> {}, failure -> {})));
    log.commit();
    if (!log.rejected().isEmpty()) {
      throw new IOException(
          "no space to record that changed blobs are lost: free "
              + ((2L * drive.limits().segmentBytes()) >> 20)
              + " MiB on its file system, or raise its capacity, then restart");
    }
    log.clear();
  }
}
