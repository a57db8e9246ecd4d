package dev.ashlar.server.admin;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.protocol.model.MoveJobs;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.server.admin.Admin.RefusedException;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shows, begins and stops the jobs that move data to other profiles. */
record ProfileMoves(MetadataClient metadata, ProfileChanges profiles, Clock clock) {
  private static final String SCHEME = "s3://";
  private static final int TRIES = 10;

  /**
   * A job that moves data to another profile.
   *
   * @param source such as s3://bucket/prefix
   * @param to storage class
   * @param reason of the state, in words; empty: nothing to say
   * @param maxBytesPerSecond null: the rate of the server
   * @param pass 1 at first; further ones try again what could not be moved
   * @param foundVersions how many versions there were when they were counted, and their bytes
   * @param passedVersions which of them the present pass has dealt with, and their bytes
   * @param movedVersions which of them had to be moved, and the bytes that were
   * @param failedVersions versions of this pass that could not be moved
   * @param bytesPerSecond at which this pass deals with versions; null: not known yet
   * @param secondsLeft by that rate; null: not known, or the job does not run
   */
  record MoveInfo(
      long id,
      String source,
      String to,
      String state,
      String reason,
      @Nullable Long maxBytesPerSecond,
      int pass,
      long foundVersions,
      long foundBytes,
      long passedVersions,
      long passedBytes,
      long movedVersions,
      long movedBytes,
      long failedVersions,
      @Nullable Long bytesPerSecond,
      @Nullable Long secondsLeft,
      long begunMs,
      long endedMs) {
    static MoveInfo of(MoveJobRow job) {
      long passed = Math.min(job.getBytesPassed(), job.getBytesFound());
      long rate = job.getWorkedMs() > 0 ? 1000 * passed / job.getWorkedMs() : 0;
      boolean isKnown = job.getState() == MoveJobRow.State.RUNNING && rate > 0;
      return new MoveInfo(
          job.getId(),
          SCHEME + job.getBucket() + "/" + job.getPrefix(),
          PlacedProfile.className(job.getStorageClass()),
          job.getState().name().toLowerCase(Locale.ROOT),
          job.getReason(),
          job.getBytesPerSecond() == 0 ? null : job.getBytesPerSecond(),
          job.getPass() + 1,
          job.getVersionsFound(),
          job.getBytesFound(),
          job.getVersionsPassed(),
          passed,
          job.getVersionsMoved(),
          job.getBytesMoved(),
          job.getVersionsFailed(),
          rate > 0 ? rate : null,
          isKnown ? (job.getBytesFound() - passed) / rate : null,
          job.getBeganMs(),
          job.getEndedMs());
    }
  }

  List<MoveInfo> list() throws MetadataUnavailableException {
    return rows().stream().map(MoveInfo::of).toList();
  }

  /** Metadata of earlier builds, which know one profile only, cannot be asked. */
  private List<MoveJobRow> rows() throws MetadataUnavailableException {
    return hasSeveralProfiles() ? metadata.moveJobs() : List.of();
  }

  private boolean hasSeveralProfiles() {
    return metadata.placement().profiles().size() > 1;
  }

  /**
   * Begins to move data.
   *
   * @param source s3://BUCKET/PREFIX
   * @param to storage class, and behind an @ the most bytes per second; without it, the rate of the
   *     server
   */
  List<MoveInfo> begin(String source, String to)
      throws MetadataUnavailableException, RefusedException {
    if (!source.startsWith(SCHEME)) {
      throw new RefusedException("'" + source + "' is not of the form s3://BUCKET/PREFIX");
    }
    if (!hasSeveralProfiles()) {
      throw new RefusedException("the store has one profile only: add another one first");
    }
    String name = source.substring(SCHEME.length());
    int slash = name.indexOf('/');
    int at = to.indexOf('@');
    String storageClass = at < 0 ? to : to.substring(0, at);
    profiles.checkMemory(storageClass);
    BeginMove move =
        BeginMove.newBuilder()
            .setBucket(slash < 0 ? name : name.substring(0, slash))
            .setPrefix(slash < 0 ? "" : name.substring(slash + 1))
            .setStorageClass(PlacedProfile.storedClass(storageClass))
            .setBytesPerSecond(at < 0 ? 0 : pace(to.substring(at + 1)))
            .build();
    CommandResult begun = metadata.submit(Command.newBuilder().setBeginMove(move));
    if (begun.getCode() != ResultCode.OK) {
      throw new RefusedException(reason(begun.getCode(), move.getBucket(), storageClass));
    }
    return only(begun.getVersion());
  }

  private static long pace(String bytes) throws RefusedException {
    try {
      return ByteSize.parse(bytes);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(String.valueOf(e.getMessage()));
    }
  }

  private static String reason(ResultCode code, String bucket, String storageClass) {
    return switch (code) {
      case NO_SUCH_BUCKET -> "there is no bucket " + bucket;
      case NO_SUCH_CLASS -> "there is no profile " + storageClass;
      case LIMIT_EXCEEDED -> "too many moves wait: stop some, or wait until they are done";
      default -> "metadata refuses it: " + code;
    };
  }

  private List<MoveInfo> only(long id) throws MetadataUnavailableException {
    return list().stream().filter(job -> job.id() == id).toList();
  }

  /** Stops a job. What it has moved stays where it is. */
  List<MoveInfo> stop(String id) throws MetadataUnavailableException, RefusedException {
    for (int tries = 0; tries < TRIES; tries++) {
      MoveJobRow job =
          rows().stream()
              .filter(row -> Long.toString(row.getId()).equals(id))
              .findFirst()
              .orElseThrow(() -> new RefusedException("there is no move " + id));
      if (MoveJobs.isEnded(job)) {
        throw new RefusedException("move " + id + " has ended already");
      }
      MoveJobRow stopped =
          job.toBuilder()
              .setState(MoveJobRow.State.STOPPED)
              .setReason("by an operator")
              .setEndedMs(clock.millis())
              .build();
      SaveMove.Builder save = SaveMove.newBuilder().setJob(stopped);
      ResultCode code = metadata.submit(Command.newBuilder().setSaveMove(save)).getCode();
      if (code == ResultCode.OK) {
        return only(job.getId());
      }
    }
    throw new RefusedException("the move goes on all the time: try again");
  }
}
