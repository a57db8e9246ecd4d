package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DriveIdentityTest {
  private static final DriveCore.OpenContext SETTING =
      new DriveCore.OpenContext(TestDrives.CLUSTER, new UUID(5, 6), 1);

  /** The next process tells metadata of the new life, which then takes no older one any more. */
  @Test
  void incarnationBegunByAKilledProcessSurvivesAPowerLoss() throws IOException {
    for (int seed = 0; seed < 40; seed++) {
      for (int call = 2; call <= 4; call++) { // write, sync, and again
        SimulatedDrive disk = new SimulatedDrive(new Random(seed), Long.MAX_VALUE);
        DriveIdentity first = DriveCore.identify(disk, SETTING);
        disk.crashAtCall(call);
        assertThrows(PowerLoss.class, () -> first.nextIncarnation(1).write(disk));
        disk.restart();
        long told = DriveCore.identify(disk, SETTING).drive().incarnation();
        assertEquals(2, told);
        disk.reboot();
        assertEquals(told, incarnation(disk), "seed " + seed + ", call " + call);
      }
    }
  }

  @Test
  void interruptedWriteLeavesOneOfBothIncarnations() throws IOException {
    for (int seed = 0; seed < 40; seed++) {
      for (int call = 1; call <= 4; call++) {
        SimulatedDrive disk = new SimulatedDrive(new Random(seed), Long.MAX_VALUE);
        DriveIdentity first = DriveCore.identify(disk, SETTING);
        disk.crashAtCall(call);
        assertThrows(PowerLoss.class, () -> first.nextIncarnation(1).write(disk));
        disk.reboot();
        long found = incarnation(disk);
        assertTrue(found == 1 || found == 2, "incarnation " + found);
        assertTrue(call <= 2 || found == 2, "the first place was durable");
      }
    }
  }

  @Test
  void damagedBlockIsRestoredFromTheOther() throws IOException {
    for (int at : new int[] {40, 4096 + 40}) {
      SimulatedDrive disk = new SimulatedDrive(new Random(1), Long.MAX_VALUE);
      DriveCore.identify(disk, SETTING).nextIncarnation(1).write(disk);
      disk.flipBit(DriveIdentity.FILE, at, 1);
      assertEquals(2, incarnation(disk));
      disk.flipBit(DriveIdentity.FILE, 4096 + 80 - at, 1);
      assertEquals(2, incarnation(disk));
    }
  }

  /** A bad sector for which there is no other: the drive goes on with the other place. */
  @Test
  void unwritableBlockLeavesTheOther() throws IOException {
    SimulatedDrive disk = new SimulatedDrive(new Random(1), Long.MAX_VALUE);
    DriveIdentity first = DriveCore.identify(disk, SETTING);
    disk.makeUnreadable(DriveIdentity.FILE, SegmentFormat.BLOCK);
    disk.fail(SimulatedDrive.Calls.DATA, 2, 1); // what follows the sync of what was found
    assertEquals(first, DriveIdentity.read(disk));
    assertEquals(1, disk.errorCount());
    disk.fail(SimulatedDrive.Calls.DATA, 2, 1);
    assertEquals(first, DriveIdentity.readToWrite(disk));
    disk.fail(SimulatedDrive.Calls.DATA, 3, 1);
    first.nextIncarnation(1).write(disk);
    disk.reboot();
    assertEquals(2, incarnation(disk));
  }

  @Test
  void fullDriveCanBeginANewIncarnation() throws IOException {
    SimulatedDrive disk = new SimulatedDrive(new Random(1), 3 * 4096);
    DriveIdentity first = DriveCore.identify(disk, SETTING);
    disk.create("all the rest", disk.usableBytes());
    assertEquals(0, disk.usableBytes());
    first.nextIncarnation(1).withChangesLost(true).write(disk);
    assertEquals(first.nextIncarnation(1).withChangesLost(true), DriveCore.identify(disk, SETTING));
  }

  @Test
  void version1IsUpgraded() throws IOException {
    for (boolean isLost : new boolean[] {false, true}) {
      SimulatedDrive disk = new SimulatedDrive(new Random(1), Long.MAX_VALUE);
      disk.put(DriveIdentity.FILE, DriveRulesTest.golden("identity-v1.hex"));
      if (isLost) {
        disk.put("changes-lost", new byte[4096]);
      }
      DriveIdentity found = DriveIdentity.read(disk);
      assertEquals(1000, found.drive().incarnation());
      assertEquals(isLost, found.changesLost());
      assertEquals(found, DriveIdentity.read(disk));
      assertEquals(List.of(DriveIdentity.FILE), disk.list());
    }
  }

  /**
   * A program that cannot read the batches of this one is to refuse the drive, also if it is idle.
   */
  @Test
  void formerVersionIsUpgradedWhenOpenedButNotWhenRead() throws Exception {
    for (String version : List.of("identity-v2.hex", "identity-v3.hex")) {
      checkIsRaised(DriveRulesTest.golden(version));
    }
  }

  private static void checkIsRaised(byte[] former) throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    byte[] places = new byte[2 * SegmentFormat.BLOCK];
    System.arraycopy(former, 0, places, 0, former.length);
    System.arraycopy(former, 0, places, SegmentFormat.BLOCK, former.length);
    drive.disk.put(DriveIdentity.FILE, places);
    DriveIdentity.read(drive.disk);
    assertArrayEquals(places, drive.disk.content(DriveIdentity.FILE), "another cluster's, perhaps");
    drive.reopen();
    for (int place = 0; place < 2; place++) {
      byte[] content = drive.disk.content(DriveIdentity.FILE);
      assertEquals(4, content[place * SegmentFormat.BLOCK + 5]);
    }
    assertEquals(1000, incarnation(drive.disk));
  }

  private static long incarnation(SimulatedDrive disk) throws IOException {
    return DriveCore.identify(disk, SETTING).drive().incarnation();
  }
}
