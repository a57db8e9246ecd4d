package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.NULL;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Versions are deleted only if they are what was judged, and enough newer ones are there. */
class DeleteConditionsTest {
  private final VersionCommands it = VersionCommands.withBucket();
  private final List<Long> versions = new ArrayList<>();

  private void put(int count) throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    for (int i = 0; i < count; i++) {
      versions.add(it.put("k", 1));
    }
    it.put("j", 1); // versions of other keys do not count
    it.put("j", 1);
    it.put("l", 1);
    it.put("l", 1);
  }

  private ResultCode delete(VersionRef version, int newerKept) throws Exception {
    return it.delete(
            DeleteTarget.newBuilder().setKey("k").setVersion(version).setNewerKept(newerKept))
        .getCode();
  }

  @Test
  void versionsAreDeletedOnlyBelowEnoughOthers() throws Exception {
    put(4);
    assertEquals(
        ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(3)), 1), "the present one");
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(2)), 1));
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(0)), 3));
    assertEquals(ResultCode.OK, delete(ref(versions.get(0)), 2));
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(1)), 2));
    assertEquals(ResultCode.OK, delete(ref(versions.get(1)), 1));
  }

  @Test
  void aMarkerOnTopIsNotInBetween() throws Exception {
    put(3);
    it.delete("k");
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(2)), 1));
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(ref(versions.get(0)), 3));
    assertEquals(ResultCode.OK, delete(ref(versions.get(0)), 2));
    it.delete("k"); // the marker before is in between now
    assertEquals(ResultCode.OK, delete(ref(versions.get(1)), 2));
  }

  @Test
  void anotherNullVersionIsNotDeleted() throws Exception {
    long first = it.put("k", 1);
    long second = it.put("k", 2);
    DeleteTarget.Builder target = DeleteTarget.newBuilder().setKey("k").setVersion(NULL);
    assertEquals(
        ResultCode.PRECONDITION_FAILED, it.delete(target.clone().setPosition(first)).getCode());
    assertEquals(ResultCode.OK, it.delete(target.setPosition(second)).getCode());
    assertEquals(-2, it.size("k", null));
  }

  @Test
  void conditionsWithoutAVersionOrOutOfRangeAreRefused() throws Exception {
    put(2);
    VersionRef older = ref(versions.get(0));
    assertEquals(ResultCode.INVALID_COMMAND, delete(older, 101));
    assertEquals(ResultCode.INVALID_COMMAND, delete(older, -1));
    assertEquals(ResultCode.PRECONDITION_FAILED, delete(older, 100));
    DeleteTarget.Builder present = DeleteTarget.newBuilder().setKey("k");
    assertEquals(ResultCode.INVALID_COMMAND, it.delete(present.clone().setNewerKept(1)).getCode());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.delete(present.clone().setPosition(versions.get(1))).getCode());
  }

  @Test
  void olderVersionsOfMetadataDoNotKnowThem() throws Exception {
    MemoryMetadata older = MemoryMetadata.ofVersion(8, Clock.systemUTC());
    older.require(TestBlobs.createBucket(BUCKET));
    older.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket(BUCKET)
                    .setVersioning(Versioning.VERSIONING_ENABLED)));
    PutObject.Builder put =
        PutObject.newBuilder()
            .setBucket(BUCKET)
            .setKey("k")
            .setSummary(ObjectSummary.newBuilder().setEtag("e"));
    long version = older.submit(Command.newBuilder().setPutObject(put)).getVersion();
    DeleteTarget.Builder target =
        DeleteTarget.newBuilder().setKey("k").setVersion(ref(version)).setNewerKept(5);
    assertEquals(
        ResultCode.OK,
        older
            .submit(
                Command.newBuilder()
                    .setDeleteObjects(
                        DeleteObjects.newBuilder()
                            .setBucket(BUCKET)
                            .addTargets(target.setPosition(7))))
            .getDeletes(0)
            .getCode());
  }
}
