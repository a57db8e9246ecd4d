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
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Some seconds of work on a job that moves versions. A version that cannot be moved now is counted,
 * and tried again in a further pass over all versions.
 */
final class MoveRound implements VersionMover.Follower {
  /** Versions between two looks at the job. */
  private static final int BATCH = 64;

  private static final int PAGE = 1000;
  private static final int VERSIONS_AT_ONCE = 4;
  private static final int PASSES = 3;

  private final ClassMoves.Parts parts;
  private final MoveJobRow begun;
  private final ByteRateLimiter rate;
  private final long beganNanos = System.nanoTime();

  /** Guards what follows: versions are moved by several threads. */
  private final ReentrantLock lock = new ReentrantLock();

  private final MoveJobRow.Builder job;
  private long workedUntilNanos = beganNanos;
  private long savedNanos = beganNanos;

  /** Somebody else has changed the job, or it has ended. */
  private boolean isOver;

  private boolean isFull;

  /** Bytes moved of versions that are not passed yet. */
  private long bytesAhead;

  private @Nullable MetadataUnavailableException unavailable;

  MoveRound(ClassMoves.Parts parts, MoveJobRow job, ByteRateLimiter rate) {
    this.parts = parts;
    this.begun = job;
    this.job = job.toBuilder();
    this.rate = rate;
  }

  /** Works for a slice of time; returns whether there is more to do at once. */
  boolean run() throws MetadataUnavailableException, InterruptedException {
    boolean isThere =
        parts
            .metadata()
            .bucket(job.getBucket())
            .filter(bucket -> bucket.getId() == job.getBucketId())
            .isPresent();
    if (!isThere) {
      end(MoveJobRow.State.STOPPED, "the bucket has been deleted");
      return true;
    }
    if (job.getState() == MoveJobRow.State.WAITING) {
      job.setState(MoveJobRow.State.COUNTING);
    }
    boolean isMore = true;
    while (isMore && !isOver && !isSliceOver()) {
      isMore = job.getState() == MoveJobRow.State.COUNTING ? countPage() : moveBatch();
    }
    save();
    return isMore;
  }

  private boolean isSliceOver() {
    return System.nanoTime() - beganNanos >= parts.slice().toNanos();
  }

  private VersionsPage page(int max) throws MetadataUnavailableException {
    VersionRef marker =
        job.getKey().isEmpty() ? null : VersionRef.newBuilder().setNumber(job.getVersion()).build();
    return parts
        .metadata()
        .versions(
            new VersionsQuery(job.getBucket(), job.getPrefix(), "", job.getKey(), marker, max));
  }

  private void advance(List<VersionEntry> passed) {
    if (!passed.isEmpty()) {
      job.setKey(passed.getLast().getName()).setVersion(passed.getLast().getVersion());
    }
  }

  private boolean countPage() throws MetadataUnavailableException {
    VersionsPage page = page(PAGE);
    lock.lock();
    try {
      for (VersionEntry entry : page.entries()) {
        if (!entry.getDeleteMarker()) {
          job.setVersionsFound(job.getVersionsFound() + 1);
          job.setBytesFound(job.getBytesFound() + entry.getSummary().getSize());
        }
      }
      advance(page.entries());
      if (!page.truncated()) {
        job.setState(MoveJobRow.State.RUNNING).clearKey().clearVersion();
        workedUntilNanos = System.nanoTime();
      }
    } finally {
      lock.unlock();
    }
    return true;
  }

  /** Moves some versions; returns whether to go on. */
  private boolean moveBatch() throws MetadataUnavailableException, InterruptedException {
    if (hasChanged()) {
      isOver = true;
      return true;
    }
    VersionsPage page = page(BATCH);
    List<VersionEntry> versions =
        page.entries().stream().filter(entry -> !entry.getDeleteMarker()).toList();
    int failed = moveAll(versions);
    lock.lock();
    try {
      if (unavailable != null) {
        throw unavailable;
      }
      if (isOver) {
        return true;
      }
      if (isFull) {
        waitForRoom();
        return false;
      }
      passed(versions, failed);
      advance(page.entries());
      if (!page.truncated()) {
        endPass();
      }
      return failed == 0 || failed < versions.size();
    } finally {
      lock.unlock();
    }
  }

  private void waitForRoom() {
    if (job.getState() != MoveJobRow.State.FULL) {
      parts
          .failures()
          .log(
              "Moving s3://%s/%s to another profile waits, because the drives are full. Add drives, or delete data."
                  .formatted(job.getBucket(), job.getPrefix()));
    }
    job.setState(MoveJobRow.State.FULL).setReason("the drives are full");
  }

  /** Whether somebody else has changed the job, such as an operator who has stopped it. */
  private boolean hasChanged() throws MetadataUnavailableException {
    return parts.metadata().moveJobs().stream()
        .noneMatch(row -> row.getId() == job.getId() && row.getRevision() == job.getRevision());
  }

  private void passed(List<VersionEntry> versions, int failed) {
    long bytes = versions.stream().mapToLong(entry -> entry.getSummary().getSize()).sum();
    job.setState(MoveJobRow.State.RUNNING)
        .clearReason()
        .setVersionsPassed(job.getVersionsPassed() + versions.size())
        .setBytesPassed(job.getBytesPassed() + Math.max(0, bytes - bytesAhead))
        .setVersionsFailed(job.getVersionsFailed() + failed);
    bytesAhead = 0;
  }

  private void endPass() throws MetadataUnavailableException {
    long failed = job.getVersionsFailed();
    if (failed > 0 && job.getPass() + 1 < PASSES) {
      job.setPass(job.getPass() + 1)
          .clearKey()
          .clearVersion()
          .clearVersionsPassed()
          .clearBytesPassed()
          .clearVersionsFailed()
          .clearWorkedMs();
    } else {
      end(MoveJobRow.State.DONE, failed == 0 ? "" : "some could not be moved, see the log");
    }
  }

  private void end(MoveJobRow.State state, String reason) throws MetadataUnavailableException {
    job.setState(state).setReason(reason).setEndedMs(parts.clock().millis());
    save();
    isOver = true;
  }

  /** Records how far the job is, unless somebody else has changed it. */
  private void save() throws MetadataUnavailableException {
    lock.lock();
    try {
      if (isOver) {
        return;
      }
      long now = System.nanoTime();
      if (job.getState() == MoveJobRow.State.RUNNING) {
        job.setWorkedMs(job.getWorkedMs() + (now - workedUntilNanos) / 1_000_000);
      }
      workedUntilNanos = now;
      savedNanos = now;
      CommandResult result =
          parts
              .metadata()
              .submit(Command.newBuilder().setSaveMove(SaveMove.newBuilder().setJob(job)));
      if (result.getCode() == ResultCode.OK) {
        job.setRevision(result.getVersion());
      } else {
        isOver = true;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Moves these versions, several at once; returns how many could not be moved. */
  private int moveAll(List<VersionEntry> versions) throws InterruptedException {
    AtomicInteger failed = new AtomicInteger();
    AtOnce.run(
        versions,
        VERSIONS_AT_ONCE,
        version -> {
          if (isWorking()) {
            failed.addAndGet(isMoved(version) ? 0 : 1);
          }
          return isWorking();
        });
    return failed.get();
  }

  /** Failures of further passes are those of the first one. */
  private boolean isFirstPass() {
    lock.lock();
    try {
      return job.getPass() == 0;
    } finally {
      lock.unlock();
    }
  }

  private boolean isWorking() {
    lock.lock();
    try {
      return !isOver && !isFull && unavailable == null;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the version is where it should be, or gone, or nobody knows because of metadata. */
  private boolean isMoved(VersionEntry version) throws InterruptedException {
    try {
      if (move(version) == Outcome.MOVED) {
        parts.meters().versions().increment();
        lock.lock();
        try {
          job.setVersionsMoved(job.getVersionsMoved() + 1);
        } finally {
          lock.unlock();
        }
      }
      return true;
    } catch (MetadataUnavailableException e) {
      lock.lock();
      try {
        unavailable = e;
      } finally {
        lock.unlock();
      }
      return true;
    } catch (NotMovedException | UnavailableException e) {
      parts.meters().failures().increment();
      if (isFirstPass()) {
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
      lock.lock();
      try {
        isFull = true;
      } finally {
        lock.unlock();
      }
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
    lock.lock();
    try {
      if (System.nanoTime() - savedNanos >= parts.save().toNanos()) {
        save();
      }
      return isWorking();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void moved(long bytes) {
    parts.meters().bytes().increment((double) bytes);
    lock.lock();
    try {
      bytesAhead += bytes;
      job.setBytesMoved(job.getBytesMoved() + bytes).setBytesPassed(job.getBytesPassed() + bytes);
    } finally {
      lock.unlock();
    }
  }
}
