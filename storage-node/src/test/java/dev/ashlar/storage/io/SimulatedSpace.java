package dev.ashlar.storage.io;

import java.util.ArrayList;
import java.util.List;

/** The space of a file system with one or more simulated drives. */
public final class SimulatedSpace {
  private final long capacityBytes;
  private final List<SimulatedDrive> drives = new ArrayList<>();

  public SimulatedSpace(long capacityBytes) {
    this.capacityBytes = capacityBytes;
  }

  void add(SimulatedDrive drive) {
    drives.add(drive);
  }

  /** How many drives are on it. */
  public int drives() {
    return drives.size();
  }

  public long usableBytes() {
    long used = 0;
    for (SimulatedDrive drive : drives) {
      used += drive.usedBytes();
    }
    return Math.max(0, capacityBytes - used);
  }
}
