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
 * @param self where the others reach this peer
 * @param peers where those are reached with which the group begins, in an order that is the same
 *     everywhere; of a group that is there, some of its peers
 * @param joins whether this peer is to be added to a group that is there, if its folder is empty
 * @param knows the greatest version of metadata that this peer may apply
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
