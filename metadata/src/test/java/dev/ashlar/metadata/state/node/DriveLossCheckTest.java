package dev.ashlar.metadata.state.node;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.DriveSettlement;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Nodes with a drive each that come back without what they had: which of them may be replaced. */
class DriveLossCheckTest {
  private static final Profile PROFILE = new Profile(4, 2, 16384);
  private static final int NODES = 8;

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryMetadata metadata = new MemoryMetadata(clock);

  private long names = 1 << 20;

  /** By node. */
  private final List<MemoryMetadata> sessions = new ArrayList<>();

  DriveLossCheckTest() {
    for (int node = 0; node < NODES; node++) {
      sessions.add(metadata.anotherClient());
      register(node, new DriveId(drive(node), 1).toMessage());
    }
    makeMap(metadata);
    TestBlobs.fill(metadata);
  }

  private static UUID drive(int node) {
    return MemoryMetadata.sequentialIds(NODES + 1).get(node);
  }

  /** Group p has its slots on the drives from p on. */
  private static void makeMap(MemoryMetadata of) {
    of.require(
        Command.newBuilder()
            .setPutDrives(
                PutDrives.newBuilder()
                    .setPgMap(
                        MemoryMetadata.drives(PROFILE, MemoryMetadata.sequentialIds(NODES), NODES)
                            .getPgMap())));
  }

  private void register(int node, DriveRow... drives) {
    NodeRow row =
        NodeRow.newBuilder()
            .setName("n" + node)
            .setHost("h" + node)
            .setPort(9002)
            .setKnowsProfiles(true)
            .build();
    sessions
        .get(node)
        .require(
            Command.newBuilder()
                .setRegisterNode(
                    RegisterNode.newBuilder().setNode(row).addAllDrives(List.of(drives))));
  }

  private DriveRow row(UUID drive) throws Exception {
    return metadata.registry().getDrivesList().stream()
        .filter(row -> DriveId.idOf(row).equals(drive))
        .findFirst()
        .orElseThrow();
  }

  private DriveRow next(UUID drive) throws Exception {
    return new DriveId(drive, row(drive).getIncarnation() + 1).toMessage();
  }

  /** Its process starts and finds nothing; whether it may begin anew. */
  private boolean mayReplace(int node) throws Exception {
    DriveRow before = row(drive(node));
    sessions.set(node, metadata.anotherClient());
    register(node, next(drive(node)).toBuilder().setVacant(true).build());
    DriveRow after = row(drive(node));
    assertFalse(after.getVacant());
    boolean isTaken = after.getIncarnation() > before.getIncarnation();
    assertEquals(!isTaken, after.getAbsent());
    assertEquals(isTaken || before.getUnsettled(), after.getUnsettled());
    assertEquals(
        after.getIncarnation(), requireNonNull(metadata.drives().get(drive(node))).incarnation());
    return isTaken;
  }

  private void pass(long ms, Integer... silent) {
    for (long left = ms; left > 0; left -= NodeLiveness.HEARTBEAT_MS) {
      clock.advanceMs(NodeLiveness.HEARTBEAT_MS);
      for (int node = 0; node < sessions.size(); node++) {
        if (!List.of(silent).contains(node)) {
          keep(node);
        }
      }
    }
  }

  private void keep(int node) {
    sessions
        .get(node)
        .require(
            Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("n" + node)));
  }

  /** All rows tell what it lost. */
  private void settle(int node) throws Exception {
    metadata.require(DriveSettlement.of(row(drive(node))));
  }

  /** An object with shards on the first six drives. */
  private BlobRow put() throws Exception {
    metadata.require(TestBlobs.createBucket("b"));
    long sequence = 0;
    while (metadata.placement().group(new BlobId(metadata.session(), sequence)).orElseThrow()
        != 0) {
      sequence++;
    }
    return put(sequence);
  }

  private BlobRow put(long sequence) throws Exception {
    BlobId blob = new BlobId(metadata.session(), sequence);
    metadata.require(
        TestBlobs.put(
            "b", "k" + sequence, TestBlobs.acknowledged(metadata, blob, PROFILE.stripeBytes())));
    return row(blob);
  }

  private BlobRow row(BlobId blob) throws Exception {
    return metadata.blobs(List.of(blob)).getFirst();
  }

  private void note(BlobRow blob) {
    metadata.require(
        Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addBlobs(blob.getId())));
  }

  @Test
  void noMoreAreReplacedThanMayBeLost() throws Exception {
    assertTrue(mayReplace(0));
    assertTrue(mayReplace(1));
    assertFalse(mayReplace(2), "with it, blobs would have lost three shards");
    settle(0);
    assertTrue(mayReplace(2), "no blob lacks what was on the first");
  }

  /** Or they are mounted late, too, and have not come up yet. */
  @Test
  void thoseThatAreAwayMayBeLostToo() throws Exception {
    pass(2 * NodeLiveness.DOWN_MS, 0, 1);
    assertFalse(mayReplace(2));
    keep(1);
    assertTrue(mayReplace(2));
    assertFalse(mayReplace(3), "one is replaced, and one is away");
  }

  @Test
  void afterAnOutageOfAllTheOthersHaveToBeHeardFirst() throws Exception {
    clock.advanceMs(3_600_000);
    assertFalse(mayReplace(2));
    pass(NodeLiveness.HEARTBEAT_MS);
    assertTrue(mayReplace(2));
  }

  @Test
  void aDriveWithoutSlotsMayAlwaysBeReplaced() throws Exception {
    sessions.add(metadata.anotherClient());
    register(NODES, new DriveId(drive(NODES), 1).toMessage());
    pass(2 * NodeLiveness.DOWN_MS, 0, 1);
    assertTrue(mayReplace(NODES));
  }

  /** Damage cost it some of what it had; or an administrator has said that it is replaced. */
  @Test
  void driveInAnotherIncarnationIsAccepted() throws Exception {
    pass(2 * NodeLiveness.DOWN_MS, 0, 1);
    sessions.set(2, metadata.anotherClient());
    register(2, next(drive(2)));
    assertEquals(2, row(drive(2)).getIncarnation());
    assertFalse(row(drive(2)).getAbsent());
  }

  @Test
  void debtsCountAlsoWhenTheDrivesAreSettled() throws Exception {
    BlobRow blob = put();
    assertTrue(mayReplace(0));
    assertTrue(mayReplace(1));
    note(blob);
    settle(0);
    settle(1);
    assertEquals(2, row(BlobId.of(blob.getId())).getDebtSlotsCount());
    assertFalse(mayReplace(2), "it has a third shard");
    assertTrue(mayReplace(6), "it has none of the blob");
    settle(6);
    assertTrue(mayReplace(0), "its shard is owed already");
  }

  @Test
  void recordedAndUnrecordedDebtsAddUp() throws Exception {
    BlobRow blob = put();
    assertTrue(mayReplace(0));
    note(blob);
    settle(0);
    assertTrue(mayReplace(1));
    assertFalse(mayReplace(2), "the blob owes one shard by its row, and one that it does not tell");
    note(blob);
    settle(1);
    assertFalse(mayReplace(2));
  }

  /** Where there are few nodes, each has several slots of a group. */
  @Test
  void theDrivesOfOneNodeCountForEachOther() throws Exception {
    DriveRow[] rows = new DriveRow[NODES];
    MemoryMetadata other = new MemoryMetadata(clock);
    for (int i = 0; i < NODES; i++) {
      rows[i] = new DriveId(drive(i), 1).toMessage();
    }
    RegisterNode.Builder node =
        RegisterNode.newBuilder()
            .setNode(NodeRow.newBuilder().setName("n").setHost("h").setPort(9002));
    other.require(Command.newBuilder().setRegisterNode(node.clone().addAllDrives(List.of(rows))));
    makeMap(other);
    TestBlobs.fill(other);
    DriveRow[] three = rows.clone();
    for (int i = 0; i < 3; i++) {
      three[i] = new DriveId(drive(i), 2).toMessage().toBuilder().setVacant(true).build();
    }
    other.require(Command.newBuilder().setRegisterNode(node.clone().addAllDrives(List.of(three))));
    assertEquals(3, absent(other));
    three[2] = rows[2];
    other.require(Command.newBuilder().setRegisterNode(node.clone().addAllDrives(List.of(three))));
    assertEquals(0, absent(other));
  }

  private static void addWeak(MemoryMetadata to) {
    to.require(TestProfiles.add(to, "WEAK", new Profile(1, 1, 4096), NODES));
  }

  /** A profile that could not spare another drive has no data yet. */
  @Test
  void placementGroupsWithoutBlobsLoseNothing() throws Exception {
    addWeak(metadata);
    assertTrue(mayReplace(0));
    assertTrue(mayReplace(1));
    assertFalse(mayReplace(2), "with it, blobs of the first profile would have lost three shards");
  }

  @Test
  void blobsOfTheProfileWithTheLeastParityDecide() throws Exception {
    addWeak(metadata);
    putInWeakGroup(NODES); // on the first two drives
    assertTrue(mayReplace(0));
    assertFalse(mayReplace(1));
    register(1, new DriveId(drive(1), 1).toMessage()); // mounted late
    assertTrue(mayReplace(2));
  }

  private void putInWeakGroup(int pg) {
    metadata.require(TestBlobs.createBucket("weak"));
    long count = 0;
    BlobId blob;
    do {
      blob = BlobId.of(metadata.session(), 1, count++);
    } while (metadata.placement().group(blob).orElseThrow() != pg);
    metadata.require(TestBlobs.put("weak", "k", TestBlobs.acknowledged(metadata, blob, 4096)));
  }

  /** A store in one process has no nodes: it says which drives are not there. */
  @Test
  void ofAStoreInOneProcessNoMoreAreReplacedThanMayBeLost() throws Exception {
    for (int empty = 1; empty <= PROFILE.shards(); empty++) {
      MemoryMetadata other = MemoryMetadata.withDrives(PROFILE, PROFILE.shards(), NODES);
      TestBlobs.fill(other);
      PutDrives.Builder command = PutDrives.newBuilder();
      for (int i = 0; i < empty; i++) {
        command.addDrives(new DriveId(drive(i), 1).toMessage().toBuilder().setAbsent(true));
        command.addVacant(new DriveId(drive(i), 2).toMessage());
      }
      other.require(Command.newBuilder().setPutDrives(command));
      long replaced = other.drives().values().stream().filter(id -> id.incarnation() > 1).count();
      assertEquals(empty <= PROFILE.parityShards() ? empty : 0, replaced, empty + " are empty");
      assertEquals(empty - replaced, absent(other));
    }
  }

  /** Nodes fall silent and speak, drives are mounted, late or not, and repair does what it does. */
  @Test
  void noBlobLosesMoreShardsThanItMay() throws Exception {
    long seed = Long.getLong("ashlar.metadata.seed", System.nanoTime());
    Random random = new Random(seed);
    metadata.require(TestBlobs.createBucket("b"));
    Map<BlobId, Set<Integer>> lost = new LinkedHashMap<>();
    for (int i = 0; i < 12; i++) {
      lost.put(BlobId.of(put(i).getId()), new TreeSet<>());
    }
    int replaced = 0;
    for (int i = 0; i < 300; i++) {
      int node = random.nextInt(NODES);
      switch (random.nextInt(7)) {
        case 0 -> pass(2 * NodeLiveness.DOWN_MS, node, random.nextInt(NODES));
        case 1 -> mountAll();
        case 2 -> noteAll(lost.keySet());
        case 3 -> note(row(List.copyOf(lost.keySet()).get(random.nextInt(lost.size()))));
        case 4 -> repair(lost, random.nextInt(lost.size()));
        default -> {
          if (mayReplace(node)) {
            replaced++;
            lose(lost, drive(node));
          }
        }
      }
      assertTrue(
          lost.values().stream().allMatch(slots -> slots.size() <= PROFILE.parityShards()),
          () -> "seed " + seed + ": " + lost);
    }
    assertTrue(replaced > 0, "seed " + seed);
  }

  /** What was not there, and not replaced, comes back with what it had. */
  private void mountAll() throws Exception {
    for (int node = 0; node < NODES; node++) {
      register(node, new DriveId(drive(node), row(drive(node)).getIncarnation()).toMessage());
    }
  }

  /** And so all drives are settled. */
  private void noteAll(Set<BlobId> blobs) throws Exception {
    for (BlobId blob : blobs) {
      note(row(blob));
    }
    for (int node = 0; node < NODES; node++) {
      settle(node);
    }
  }

  private void lose(Map<BlobId, Set<Integer>> lost, UUID drive) throws Exception {
    for (Map.Entry<BlobId, Set<Integer>> blob : lost.entrySet()) {
      BlobRow row = row(blob.getKey());
      for (int slot = 0; slot < PROFILE.shards(); slot++) {
        if (metadata.placement().location(row, slot).equals(drive)) {
          blob.getValue().add(slot);
        }
      }
    }
  }

  /** All that one of the blobs has lost is made anew. */
  private void repair(Map<BlobId, Set<Integer>> lost, int which) throws Exception {
    Map.Entry<BlobId, Set<Integer>> blob = List.copyOf(lost.entrySet()).get(which);
    BlobRow row = row(blob.getKey());
    RepairBlob.Builder repair = RepairBlob.newBuilder().setBlob(row.getId());
    for (int slot : blob.getValue()) {
      repair.addShards(
          RepairedShard.newBuilder()
              .setAck(TestBlobs.acks(metadata, row.getPg()).get(slot))
              .setName(new BlobId(metadata.session(), names++).toMessage())
              .setNameBefore(ShardId.name(row, slot).toMessage()));
    }
    metadata.require(Command.newBuilder().setRepairBlob(repair));
    blob.getValue().clear();
  }

  private static long absent(MemoryMetadata metadata) throws Exception {
    return metadata.registry().getDrivesList().stream().filter(DriveRow::getAbsent).count();
  }
}
