package dev.ashlar.server.jobs;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How far a job that moves versions is: its row, what was done since that was recorded, and whether
 * to go on. Safe for many threads.
 */
final class MoveProgress {
  /** Over all versions: the first one, and those that try again what could not be moved. */
  private static final int PASSES = 3;

  private final MetadataClient metadata;
  private final Clock clock;

  /** Guards what follows. */
  private final ReentrantLock lock = new ReentrantLock();

  private final MoveJobRow.Builder job;
  private long workedUntilNanos = System.nanoTime();
  private long savedNanos = workedUntilNanos;

  /** Somebody else has changed the job, or it has ended. */
  private boolean isOver;

  private boolean isFull;

  /** Bytes moved of versions that are not passed yet. */
  private long bytesAhead;

  private @Nullable MetadataUnavailableException unavailable;

  MoveProgress(MetadataClient metadata, MoveJobRow job, Clock clock) {
    this.metadata = metadata;
    this.job = job.toBuilder();
    this.clock = clock;
  }

  private <T extends @Nullable Object> T locked(Function<MoveJobRow.Builder, T> action) {
    lock.lock();
    try {
      return action.apply(job);
    } finally {
      lock.unlock();
    }
  }

  /** The job as it is now. */
  MoveJobRow job() {
    return locked(MoveJobRow.Builder::build);
  }

  boolean isCounting() {
    return job().getState() == MoveJobRow.State.COUNTING;
  }

  boolean isOver() {
    return locked(row -> isOver);
  }

  /** Whether another version may be moved. */
  boolean isWorking() {
    return locked(row -> !isOver && !isFull && unavailable == null);
  }

  /** Begins to count, unless that has been done. */
  void begin() {
    locked(
        row ->
            row.getState() == MoveJobRow.State.WAITING
                ? row.setState(MoveJobRow.State.COUNTING)
                : row);
  }

  /**
   * The versions that come next.
   *
   * @param max how many
   */
  VersionsQuery next(int max) {
    MoveJobRow now = job();
    VersionRef marker =
        now.getKey().isEmpty() ? null : VersionRef.newBuilder().setNumber(now.getVersion()).build();
    return new VersionsQuery(now.getBucket(), now.getPrefix(), "", now.getKey(), marker, max);
  }

  /** Those of the page that have content. */
  static List<VersionEntry> versions(VersionsPage page) {
    return page.entries().stream().filter(entry -> !entry.getDeleteMarker()).toList();
  }

  /** The versions of this page are known now. */
  void counted(VersionsPage page) {
    List<VersionEntry> versions = versions(page);
    locked(
        row -> {
          row.setVersionsFound(row.getVersionsFound() + versions.size())
              .setBytesFound(row.getBytesFound() + bytes(versions));
          advance(page);
          if (!page.truncated()) {
            row.setState(MoveJobRow.State.RUNNING).clearKey().clearVersion();
            workedUntilNanos = System.nanoTime();
          }
          return row;
        });
  }

  private static long bytes(List<VersionEntry> versions) {
    return versions.stream().mapToLong(entry -> entry.getSummary().getSize()).sum();
  }

  private void advance(VersionsPage page) {
    if (!page.entries().isEmpty()) {
      VersionEntry last = page.entries().getLast();
      job.setKey(last.getName()).setVersion(last.getVersion());
    }
  }

  /** Each version of this page was moved, had nothing to be moved, or is one of those failed. */
  void passed(VersionsPage page, int failed) throws MetadataUnavailableException {
    List<VersionEntry> versions = versions(page);
    lock.lock();
    try {
      job.setState(MoveJobRow.State.RUNNING)
          .clearReason()
          .setVersionsPassed(job.getVersionsPassed() + versions.size())
          .setBytesPassed(job.getBytesPassed() + Math.max(0, bytes(versions) - bytesAhead))
          .setVersionsFailed(job.getVersionsFailed() + failed);
      bytesAhead = 0;
      advance(page);
      if (!page.truncated()) {
        endPass();
      }
    } finally {
      lock.unlock();
    }
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

  /** A version has the blobs that it should have. */
  void versionMoved() {
    locked(row -> row.setVersionsMoved(row.getVersionsMoved() + 1));
  }

  /** So many bytes of a version have other blobs. */
  void bytesMoved(long bytes) {
    locked(
        row -> {
          bytesAhead += bytes;
          return row.setBytesMoved(row.getBytesMoved() + bytes)
              .setBytesPassed(row.getBytesPassed() + bytes);
        });
  }

  /** The drives are full: the versions of this page are looked at again later. */
  void full() {
    locked(row -> isFull = true);
  }

  /**
   * Whether the drives are full. Then the job waits, and what was moved of the page counts when it
   * is passed.
   */
  boolean waitsForRoom() {
    return locked(
        row -> {
          if (isFull) {
            row.setState(MoveJobRow.State.FULL)
                .setReason("the drives are full")
                .setBytesPassed(row.getBytesPassed() - bytesAhead);
            bytesAhead = 0;
          }
          return isFull;
        });
  }

  void unavailable(MetadataUnavailableException why) {
    locked(row -> unavailable = why);
  }

  /** Fails if metadata did not answer while versions were moved. */
  void checkAvailable() throws MetadataUnavailableException {
    MetadataUnavailableException why = locked(row -> unavailable);
    if (why != null) {
      throw why;
    }
  }

  /** Looks whether somebody else has changed the job, such as an operator who has stopped it. */
  void look() throws MetadataUnavailableException {
    MoveJobRow known = job();
    boolean isThere =
        metadata.moveJobs().stream()
            .anyMatch(
                row -> row.getId() == known.getId() && row.getRevision() == known.getRevision());
    locked(row -> isOver |= !isThere);
  }

  /** Ends the job. */
  void end(MoveJobRow.State state, String reason) throws MetadataUnavailableException {
    lock.lock();
    try {
      job.setState(state).setReason(reason).setEndedMs(clock.millis());
      save();
      isOver = true;
    } finally {
      lock.unlock();
    }
  }

  /** Records how far the job is if that was done longer ago. */
  void saveEvery(Duration interval) throws MetadataUnavailableException {
    lock.lock();
    try {
      if (System.nanoTime() - savedNanos >= interval.toNanos()) {
        save();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Records how far the job is, unless somebody else has changed it. */
  void save() throws MetadataUnavailableException {
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
          metadata.submit(Command.newBuilder().setSaveMove(SaveMove.newBuilder().setJob(job)));
      if (result.getCode() == ResultCode.OK) {
        job.setRevision(result.getVersion());
      } else {
        isOver = true;
      }
    } finally {
      lock.unlock();
    }
  }
}
