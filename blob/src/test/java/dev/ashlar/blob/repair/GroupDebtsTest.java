package dev.ashlar.blob.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.repair.GroupDebts.Count;
import dev.ashlar.blob.repair.GroupDebts.Group;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class GroupDebtsTest {
  private static final int UNIT = 4096;
  private static final Profile PROFILE = Profile.parse("4+2", UNIT);
  private static final int GROUPS = 16;

  private final MemoryMetadata metadata = MemoryMetadata.withDrives(PROFILE, 8, GROUPS);
  private final ManualClock clock = new ManualClock(1_000_000);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final GroupDebts debts = new GroupDebts(metadata, clock, meters);
  private long sequence;

  GroupDebtsTest() {
    metadata.require(TestBlobs.createBucket("b"));
  }

  /** A blob of one stripe, of which the last slots were not acknowledged; its group. */
  private int put(String key, int missing) {
    NewBlob.Builder blob =
        TestBlobs.acknowledged(
            metadata, new BlobId(metadata.session(), ++sequence), PROFILE.stripeBytes());
    for (int i = 0; i < missing; i++) {
      blob.removeAcks(blob.getAcksCount() - 1);
    }
    metadata.require(TestBlobs.put("b", key, blob));
    return blob.getPg();
  }

  private double gauge(String name) {
    return meters.get(name).gauge().value();
  }

  private List<Group> watched() throws Exception {
    debts.look();
    return debts.now().groups();
  }

  @Test
  void eachGroupIsCountedWithAllThatItLacks() throws Exception {
    Random random = new Random(5);
    Map<Integer, Group> expected = new HashMap<>();
    for (int i = 0; i < 700; i++) { // several pages
      int missing = random.nextInt(2);
      int pg = put("k" + i, missing);
      if (missing > 0) {
        Group before = expected.getOrDefault(pg, new Group(pg, 0, 0, 0, 0));
        expected.put(
            pg, new Group(pg, before.blobs() + 1, before.shards() + 1, before.bytes() + UNIT, 0));
      }
    }
    Count count = debts.now();
    assertTrue(count.complete());
    assertEquals(
        expected, count.groups().stream().collect(Collectors.toMap(Group::pg, group -> group)));
    List<Long> blobs = count.groups().stream().map(Group::blobs).toList();
    assertEquals(blobs.stream().sorted(Comparator.reverseOrder()).toList(), blobs);
  }

  @Test
  void groupsWithTheOldestDebtsComeFirst() throws Exception {
    int first = put("first", 1);
    watched();
    clock.advanceMs(5_000);
    int second = first;
    for (int i = 0; second == first; i++) {
      second = put("second " + i, 1);
    }
    List<Group> groups = watched();
    assertEquals(List.of(first, second), groups.stream().map(Group::pg).toList());
    assertEquals(clock.millis() - 5_000, groups.getFirst().sinceMs());
    assertEquals(clock.millis(), groups.getLast().sinceMs());
  }

  @Test
  void groupRepairedInBetweenStartsAgain() throws Exception {
    put("k", 1);
    watched();
    clock.advanceMs(5_000);
    metadata.require(TestBlobs.delete("b", "k"));
    assertEquals(List.of(), watched());
    clock.advanceMs(5_000);
    put("k", 1);
    assertEquals(clock.millis(), watched().getFirst().sinceMs());
  }

  @Test
  void aCountThatEndsEarlySaysSo() throws Exception {
    put("k", 1);
    assertEquals(new Count(false, List.of()), debts.count(Duration.ZERO));
  }

  @Test
  void metricsTellOfTheWorstAndNothingWhereOthersRepair() throws Exception {
    assertTrue(Double.isNaN(gauge("ashlar.repair.debt.groups")));
    put("k", 1);
    debts.look();
    clock.advanceMs(7_000);
    assertEquals(1, gauge("ashlar.repair.debt.groups"));
    assertEquals(1, gauge("ashlar.repair.debt.group.blobs.max"));
    assertEquals(7, gauge("ashlar.repair.debt.group.age.max"));
    debts.forget();
    assertTrue(Double.isNaN(gauge("ashlar.repair.debt.group.age.max")));
    assertEquals(0, debts.now().groups().getFirst().sinceMs(), "nobody watches here");
  }
}
