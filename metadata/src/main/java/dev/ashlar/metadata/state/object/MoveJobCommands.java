package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.model.MoveJobs;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The jobs that move versions to other storage classes: what they are to do, and how far they are.
 */
public final class MoveJobCommands {
  /** Jobs that are kept, ended ones included. */
  static final int JOBS_MAX = 16;

  private static final int KEY_BYTES_MAX = 1024;

  private MoveJobCommands() {}

  public static CommandResult begin(ApplyContext context, BeginMove command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    BucketRow bucket = context.bucket(command.getBucket());
    Profiles.checkClass(context, command.getStorageClass());
    require(
        isShort(command.getPrefix()) && command.getBytesPerSecond() >= 0,
        ResultCode.INVALID_COMMAND);
    List<MoveJobRow> jobs = context.table().rows('m', MoveJobRow.parser());
    Optional<MoveJobRow> removed = Optional.empty();
    if (jobs.size() >= JOBS_MAX) {
      removed = jobs.stream().filter(MoveJobs::isEnded).findFirst();
      require(removed.isPresent(), ResultCode.LIMIT_EXCEEDED);
    }
    removed.ifPresent(job -> context.table().delete(Keys.moveJob(job.getId())));
    long id = jobs.isEmpty() ? 1 : jobs.getLast().getId() + 1;
    put(
        context,
        MoveJobRow.newBuilder()
            .setId(id)
            .setBucket(bucket.getName())
            .setBucketId(bucket.getId())
            .setPrefix(command.getPrefix())
            .setStorageClass(command.getStorageClass())
            .setBytesPerSecond(command.getBytesPerSecond())
            .setBeganMs(context.timeMs()));
    return CommandResult.newBuilder().setVersion(id).build();
  }

  public static CommandResult save(ApplyContext context, SaveMove command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    MoveJobRow job = command.getJob();
    MoveJobRow present =
        require(
            context.table().row(Keys.moveJob(job.getId()), MoveJobRow.parser()),
            ResultCode.NO_SUCH_ENTITY);
    require(
        present.getRevision() == job.getRevision() && !MoveJobs.isEnded(present),
        ResultCode.CONDITIONAL_CONFLICT);
    boolean isSame =
        job.getBucket().equals(present.getBucket())
            && job.getBucketId() == present.getBucketId()
            && job.getPrefix().equals(present.getPrefix())
            && job.getStorageClass().equals(present.getStorageClass());
    require(
        isSame
            && job.getState() != MoveJobRow.State.UNRECOGNIZED
            && isShort(job.getKey())
            && isShort(job.getReason()),
        ResultCode.INVALID_COMMAND);
    put(context, job.toBuilder());
    return CommandResult.newBuilder().setVersion(context.freshId()).build();
  }

  private static void put(ApplyContext context, MoveJobRow.Builder job) {
    context
        .table()
        .put(Keys.moveJob(job.getId()), job.setRevision(context.freshId()).build().toByteArray());
  }

  private static boolean isShort(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length <= KEY_BYTES_MAX;
  }
}
