package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MoveJobCommandsTest {
  private final VersionCommands it = VersionCommands.withBucket();

  @BeforeEach
  void addHot() {
    it.metadata().require(TestProfiles.add(it.metadata(), "HOT", new Profile(1, 2, 4096), 3));
  }

  private static BeginMove.Builder toHot() {
    return BeginMove.newBuilder().setBucket(BUCKET).setPrefix("p/").setStorageClass("HOT");
  }

  private CommandResult begin(BeginMove.Builder move) throws Exception {
    return it.submit(Command.newBuilder().setBeginMove(move));
  }

  private ResultCode save(MoveJobRow.Builder job) throws Exception {
    return it.submit(Command.newBuilder().setSaveMove(SaveMove.newBuilder().setJob(job))).getCode();
  }

  private List<MoveJobRow> jobs() throws Exception {
    return it.metadata().moveJobs();
  }

  private void end(int index, MoveJobRow.State state) throws Exception {
    assertEquals(ResultCode.OK, save(jobs().get(index).toBuilder().setState(state)));
  }

  @Test
  void aJobIsKeptAsItWasSaved() throws Exception {
    assertEquals(1, begin(toHot().setBytesPerSecond(5)).getVersion());
    MoveJobRow job = jobs().getFirst();
    assertEquals(
        MoveJobRow.newBuilder()
            .setId(1)
            .setBucket(BUCKET)
            .setBucketId(it.metadata().bucket(BUCKET).orElseThrow().getId())
            .setPrefix("p/")
            .setStorageClass("HOT")
            .setBytesPerSecond(5)
            .setBeganMs(it.nowMs())
            .setRevision(job.getRevision())
            .build(),
        job);
    MoveJobRow.Builder saved =
        job.toBuilder()
            .setState(MoveJobRow.State.RUNNING)
            .setKey("p/k")
            .setVersion(7)
            .setBytesMoved(100);
    assertEquals(ResultCode.OK, save(saved));
    it.restart();
    MoveJobRow after = jobs().getFirst();
    assertEquals(saved.setRevision(after.getRevision()).build(), after);
  }

  @Test
  void aJobThatHasChangedOrEndedIsNotSaved() throws Exception {
    begin(toHot());
    MoveJobRow job = jobs().getFirst();
    assertEquals(ResultCode.OK, save(job.toBuilder().setState(MoveJobRow.State.RUNNING)));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, save(job.toBuilder()));
    end(0, MoveJobRow.State.STOPPED);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, save(jobs().getFirst().toBuilder()));
    assertEquals(ResultCode.NO_SUCH_ENTITY, save(job.toBuilder().setId(2)));
  }

  @Test
  void whatAJobIsToDoDoesNotChange() throws Exception {
    begin(toHot());
    MoveJobRow job = jobs().getFirst();
    assertEquals(ResultCode.INVALID_COMMAND, save(job.toBuilder().setPrefix("q")));
    assertEquals(ResultCode.INVALID_COMMAND, save(job.toBuilder().setStorageClass("")));
    assertEquals(ResultCode.INVALID_COMMAND, save(job.toBuilder().setBucketId(1)));
    assertEquals(ResultCode.INVALID_COMMAND, save(job.toBuilder().setReason("x".repeat(1025))));
    assertEquals(ResultCode.INVALID_COMMAND, save(job.toBuilder().setStateValue(99)));
  }

  @Test
  void jobsOfUnknownBucketsAndClassesAreRefused() throws Exception {
    assertEquals(ResultCode.NO_SUCH_BUCKET, begin(toHot().setBucket("other")).getCode());
    assertEquals(ResultCode.NO_SUCH_CLASS, begin(toHot().setStorageClass("COLD")).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, begin(toHot().setBytesPerSecond(-1)).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, begin(toHot().setPrefix("x".repeat(1025))).getCode());
    assertEquals(ResultCode.OK, begin(toHot().setStorageClass("")).getCode());
  }

  @Test
  void theOldestEndedJobMakesRoomForANewOne() throws Exception {
    for (int id = 1; id <= MoveJobCommands.JOBS_MAX; id++) {
      assertEquals(id, begin(toHot()).getVersion());
    }
    assertEquals(ResultCode.LIMIT_EXCEEDED, begin(toHot()).getCode());
    end(4, MoveJobRow.State.DONE);
    end(2, MoveJobRow.State.STOPPED);
    assertEquals(17, begin(toHot()).getVersion());
    assertEquals(List.of(1L, 2L, 4L, 5L), jobs().stream().map(MoveJobRow::getId).limit(4).toList());
    assertEquals(18, begin(toHot()).getVersion());
    assertEquals(List.of(1L, 2L, 4L, 6L), jobs().stream().map(MoveJobRow::getId).limit(4).toList());
    assertEquals(ResultCode.LIMIT_EXCEEDED, begin(toHot()).getCode());
  }

  @Test
  void aProfileIsNotRemovedWhileAJobMovesVersionsToIt() throws Exception {
    begin(toHot());
    assertEquals(
        ResultCode.DELETE_CONFLICT, it.submit(TestProfiles.remove(it.metadata(), 1)).getCode());
    end(0, MoveJobRow.State.DONE);
    assertEquals(ResultCode.OK, it.submit(TestProfiles.remove(it.metadata(), 1)).getCode());
  }

  @Test
  void aJobOutlivesItsBucket() throws Exception {
    begin(toHot());
    it.accepted(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(BUCKET)));
    it.accepted(TestBlobs.createBucket(BUCKET));
    MoveJobRow job = jobs().getFirst();
    assertNotEquals(job.getBucketId(), it.metadata().bucket(BUCKET).orElseThrow().getId());
    end(0, MoveJobRow.State.STOPPED);
  }
}
