package dev.ashlar.blob.scrub;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.scrub.LightScrub.Found;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What drives should have is looked for, all of it, and each shard where it is. */
class LightScrubTest {
  private static final int UNIT = 4096;

  private static ChangeFixture fixture() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(EngineFixture.bytes(new Random(13), 8 * UNIT));
    return fixture;
  }

  /** The shards that are looked for on a drive. */
  private static Set<ShardId> lookedFor(ChangeFixture fixture, MemoryShardStore drive)
      throws Exception {
    Set<ShardId> asked = new HashSet<>();
    new LightScrub(fixture.metadata, new SuspectShardQueue())
        .look(
            drive.drive().id(),
            (shard, view, length) -> {
              asked.add(shard);
              return null;
            });
    return asked;
  }

  private static void assertEachIsLookedForWhereItIs(ChangeFixture fixture, String message)
      throws Exception {
    for (MemoryShardStore drive : fixture.drives) {
      assertEquals(drive.shards(), lookedFor(fixture, drive), message);
    }
  }

  @Test
  void missingShardBecomesASuspect() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow row = fixture.lastBlob();
    SuspectShardQueue suspects = new SuspectShardQueue();
    ByteRange missing = new ByteRange(0, UNIT);
    Found found =
        new LightScrub(fixture.metadata, suspects)
            .look(fixture.holder(3).drive().id(), (shard, view, length) -> missing);
    assertEquals(new Found(1, 1), found);
    assertEquals(ShardId.of(row, 3), requireNonNull(suspects.take()).shard());
  }

  /** Neither is it missing there where it is to be, nor forgotten where it is. */
  @Test
  void shardsAreLookedForWhereTheyAreWhileTheyMove() throws Exception {
    ChangeFixture fixture = fixture();
    assertEachIsLookedForWhereItIs(fixture, "before");
    fixture.exchangeDrives(0, 5);
    assertEachIsLookedForWhereItIs(fixture, "in another map");
    BlobId id = BlobId.of(fixture.lastBlob().getId());
    fixture.metadata.require(
        Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addBlobs(id.toMessage())));
    assertEachIsLookedForWhereItIs(fixture, "noted");
    for (MemoryShardStore drive : fixture.drives) {
      assertEquals(
          Set.of(id), fixture.metadata.neededShards(drive.drive().id(), List.of(id)), "no orphan");
    }
    fixture.repairAll();
    assertEachIsLookedForWhereItIs(fixture, "moved");
    fixture.assertWhole("moved");
  }
}
