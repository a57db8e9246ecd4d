package dev.ashlar.metadata.server;

import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.security.SecureRandom;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The placement map and the drives as others watch them, with a version for each state of both. */
final class ClusterFeed {
  private final ReentrantLock lock = new ReentrantLock();

  /** Of this process: a version of another one means nothing here, and shall not match. */
  private long version = new SecureRandom().nextLong() | 1;

  private @Nullable PlacementMap placement;
  private Map<UUID, DriveId> drives = Map.of();
  private ClusterState state = ClusterState.newBuilder().setVersion(version).build();

  /** What the tables hold now. */
  ClusterState state(MetadataReads reads) {
    lock.lock();
    try {
      PlacementMap placementNow = reads.placement().orElse(null);
      Map<UUID, DriveId> drivesNow = reads.drives();
      if (placementNow != placement || !drivesNow.equals(drives)) {
        version += 2;
        placement = placementNow;
        drives = drivesNow;
        state = reads.cluster().setVersion(version).build();
      }
      return state;
    } finally {
      lock.unlock();
    }
  }
}
