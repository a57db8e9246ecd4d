package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DriveIdentityTest {
  private static final DriveCore.Setting SETTING =
      new DriveCore.Setting(TestDrives.CLUSTER, new UUID(5, 6), 1);

  /** The next process tells metadata of the new life, which then takes no older one any more. */
  @Test
  void aLifeBegunByAKilledProcessOutlivesThePowerLossThatFollows() throws IOException {
    for (int seed = 0; seed < 20; seed++) {
      SimulatedDrive disk = new SimulatedDrive(new Random(seed), Long.MAX_VALUE);
      DriveIdentity first = DriveCore.identify(disk, SETTING);
      disk.crashAtCall(5); // create, write, sync, rename, and now the directory
      assertThrows(PowerLoss.class, () -> first.nextIncarnation(1).write(disk));
      disk.restart();
      long told = DriveCore.identify(disk, SETTING).drive().incarnation();
      assertEquals(2, told);
      disk.reboot();
      assertEquals(told, DriveCore.identify(disk, SETTING).drive().incarnation(), "seed " + seed);
    }
  }
}
