package dev.ashlar.metadata.server;

import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.security.SecureRandom;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/** The placement map and the drives as others watch them, with a version for each state of both. */
final class ClusterFeed {
  private final ReentrantLock lock = new ReentrantLock();

  /** Of this process: a version of another one means nothing here, and shall not match. */
  private long version = new SecureRandom().nextLong() | 1;

  private long epoch;
  private Map<UUID, DriveId> drives = Map.of();
  private ClusterState state = ClusterState.newBuilder().setVersion(version).build();

  /** What the tables hold now. */
  ClusterState state(MetadataReads reads) {
    lock.lock();
    try {
      long epochNow = reads.placement().map(PlacementMap::epoch).orElse(0L);
      Map<UUID, DriveId> drivesNow = reads.drives();
      if (epochNow != epoch || !drivesNow.equals(drives)) {
        version += 2;
        epoch = epochNow;
        drives = drivesNow;
        state = reads.cluster().setVersion(version).build();
      }
      return state;
    } finally {
      lock.unlock();
    }
  }
}
