package dev.ashlar.metadata.consensus.network;

import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallClient;

/** Creates clients for calls to peers in other processes. */
public interface PeerConnector {
  /** A new client of the peer at this address; the caller closes it. */
  CallClient to(Endpoint peer);
}
