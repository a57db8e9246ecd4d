package dev.ashlar.metadata.server;

import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.transport.Endpoint;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/** The placement map, the drives and the metadata peers for watchers, with a version per state. */
final class ClusterFeed {
  private final ReentrantLock lock = new ReentrantLock();

  /** Random at the start, so that a version of another process does not match. */
  private long version = new SecureRandom().nextLong() | 1;

  private long epoch;
  private Map<UUID, DriveId> drives = Map.of();
  private List<Endpoint> peers = List.of();
  private ClusterState state = ClusterState.newBuilder().setVersion(version).build();

  /** The present state, from the tables and the addresses of the peers. */
  ClusterState state(MetadataReads reads, List<Endpoint> peersNow) {
    lock.lock();
    try {
      long epochNow = reads.placement().map(PlacementMap::epoch).orElse(0L);
      Map<UUID, DriveId> drivesNow = reads.drives();
      if (epochNow != epoch || !drivesNow.equals(drives) || !peersNow.equals(peers)) {
        version += 2;
        epoch = epochNow;
        drives = drivesNow;
        peers = peersNow;
        state =
            reads
                .cluster()
                .setVersion(version)
                .addAllMetadataPeers(peersNow.stream().map(Endpoint::toString).toList())
                .build();
      }
      return state;
    } finally {
      lock.unlock();
    }
  }
}
