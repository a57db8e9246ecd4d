package dev.ashlar.server.jobs;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.NotMovedException;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.blob.move.VersionMover.Outcome;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Some seconds of work on a job that moves versions. A version that cannot be moved now is counted,
 * and tried again in a further pass over all versions.
 */
final class MoveRound implements VersionMover.Follower {
  /** Versions between two looks at the job. */
  private static final int BATCH = 64;

  private static final int PAGE = 1000;
  private static final int VERSIONS_AT_ONCE = 4;

  private final ClassMoves.Parts parts;
  private final MoveJobRow begun;
  private final MoveProgress progress;
  private final ByteRateLimiter rate;
  private final long beganNanos = System.nanoTime();

  MoveRound(ClassMoves.Parts parts, MoveJobRow job, ByteRateLimiter rate) {
    this.parts = parts;
    this.begun = job;
    this.progress = new MoveProgress(parts.metadata(), job, parts.clock());
    this.rate = rate;
  }

  /** Works for a slice of time; returns whether there is more to do at once. */
  boolean run() throws MetadataUnavailableException, InterruptedException {
    boolean isThere =
        parts
            .metadata()
            .bucket(begun.getBucket())
            .filter(bucket -> bucket.getId() == begun.getBucketId())
            .isPresent();
    if (!isThere) {
      progress.end(MoveJobRow.State.STOPPED, "the bucket has been deleted");
      return true;
    }
    progress.begin();
    boolean isMore = true;
    while (isMore && !progress.isOver() && !isSliceOver()) {
      isMore = progress.isCounting() ? countPage() : moveBatch();
    }
    progress.save();
    return isMore;
  }

  private boolean isSliceOver() {
    return System.nanoTime() - beganNanos >= parts.slice().toNanos();
  }

  private boolean countPage() throws MetadataUnavailableException {
    progress.counted(parts.metadata().versions(progress.next(PAGE)));
    return true;
  }

  /** Moves some versions; returns whether to go on. */
  private boolean moveBatch() throws MetadataUnavailableException, InterruptedException {
    progress.look();
    if (progress.isOver()) {
      return true;
    }
    VersionsPage page = parts.metadata().versions(progress.next(BATCH));
    List<VersionEntry> versions = MoveProgress.versions(page);
    int failed = moveAll(versions);
    progress.checkAvailable();
    if (progress.isOver()) {
      return true;
    }
    if (progress.waitsForRoom()) {
      logFullDrives();
      return false;
    }
    progress.passed(page, failed);
    return failed == 0 || failed < versions.size();
  }

  private void logFullDrives() {
    if (begun.getState() != MoveJobRow.State.FULL) {
      parts
          .failures()
          .log(
              "Moving s3://%s/%s to another profile waits, because the drives are full. Add drives, or delete data."
                  .formatted(begun.getBucket(), begun.getPrefix()));
    }
  }

  /** Moves these versions, several at once; returns how many could not be moved. */
  private int moveAll(List<VersionEntry> versions) throws InterruptedException {
    AtomicInteger failed = new AtomicInteger();
    AtOnce.run(
        versions,
        VERSIONS_AT_ONCE,
        version -> {
          if (progress.isWorking()) {
            failed.addAndGet(isMoved(version) ? 0 : 1);
          }
          return progress.isWorking();
        });
    return failed.get();
  }

  /** Whether the version is where it should be, or gone, or nobody knows because of metadata. */
  private boolean isMoved(VersionEntry version) throws InterruptedException {
    try {
      if (move(version) == Outcome.MOVED) {
        parts.meters().versions().increment();
        progress.versionMoved();
      }
      return true;
    } catch (MetadataUnavailableException e) {
      progress.unavailable(e);
      return true;
    } catch (NotMovedException | UnavailableException e) {
      parts.meters().failures().increment();
      if (progress.job().getPass() == 0) { // those of further passes are the same
        parts
            .failures()
            .log(
                "Version %x of %s/%s is not moved to another profile: %s. It is tried again when the others are moved."
                    .formatted(
                        version.getVersion(),
                        begun.getBucket(),
                        version.getName(),
                        e.getMessage()));
      }
      return false;
    }
  }

  private Outcome move(VersionEntry version)
      throws UnavailableException, NotMovedException, InterruptedException {
    VersionRef id =
        version.getVersioned()
            ? VersionRef.newBuilder().setNumber(version.getVersion()).build()
            : VersionRef.getDefaultInstance();
    VersionMover.Order order =
        new VersionMover.Order(
            begun.getBucket(), version.getName(), id, 0, begun.getStorageClass());
    try {
      return new PatientMover(parts.mover()).move(order, this);
    } catch (DataUnavailableException e) {
      if (e.reason() != Reason.FULL) {
        throw e;
      }
      progress.full();
      return Outcome.STOPPED;
    }
  }

  @Override
  public ByteRateLimiter rate() {
    return rate;
  }

  /** Looks now and then whether the job still is to be done, and records progress. */
  @Override
  public boolean goesOn() throws MetadataUnavailableException {
    progress.saveEvery(parts.save());
    return progress.isWorking();
  }

  @Override
  public void moved(long bytes) {
    parts.meters().bytes().increment((double) bytes);
    progress.bytesMoved(bytes);
  }
}
