package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.Peer;

/** The running Raft peer of this process, with its network and its leader lease. */
public record RunningPeer(Peer peer, PeerNetwork network, LeaderLease lease) {}
