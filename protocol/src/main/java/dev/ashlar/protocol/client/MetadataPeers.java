package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersStatus;

/** The metadata peers of several processes, and changes of them. */
public interface MetadataPeers {
  /** The peers and their states, as the leader knows them now. */
  PeersStatus peers() throws MetadataUnavailableException;

  /**
   * Starts to add a peer, remove one or replace one. {@link #peers} reports the progress. If the
   * leader is lost meanwhile, the change may have happened or not; {@link #peers} shows which.
   *
   * @param add HOST:PORT of the new peer, which waits there; empty: none
   * @param remove id or HOST:PORT of the peer to remove; empty: none
   * @return the change, or why it is refused
   * @throws MetadataUnavailableException when there is no answer: the change may have started
   */
  PeersChangeAnswer changePeers(String add, String remove) throws MetadataUnavailableException;
}
