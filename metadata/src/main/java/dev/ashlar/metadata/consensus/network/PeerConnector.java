package dev.ashlar.metadata.consensus.network;

import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallClient;

/** How peers in other processes are called. */
public interface PeerConnector {
  /** A new client of the peer that is reached there, whom the caller closes. */
  CallClient to(Endpoint peer);
}
