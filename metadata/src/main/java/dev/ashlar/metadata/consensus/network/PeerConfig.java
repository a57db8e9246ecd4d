package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallClientConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.UUID;

/**
 * Configuration of a metadata peer whose group spans several processes.
 *
 * @param self the address of this peer
 * @param peers the addresses of the founding peers, in the same order everywhere; for an existing
 *     Raft group, of some of its peers
 * @param joins whether this peer, if its folder is empty, waits to be added to an existing Raft
 *     group
 * @param knows the latest metadata version that this peer may apply
 */
public record PeerConfig(
    UUID clusterId,
    Path folder,
    Endpoint self,
    List<Endpoint> peers,
    boolean joins,
    CallClientConfig calls,
    ElectionTimes elections,
    RocksResources resources,
    MeterRegistry meters,
    CheckpointLimits checkpoints,
    Clock clock,
    int knows) {
  public PeerConfig {
    peers = List.copyOf(peers);
    if (peers.isEmpty() || (!joins && (!peers.contains(self) || peers.size() % 2 == 0))) {
      throw new IllegalArgumentException("peer " + self + " of " + peers);
    }
  }
}
