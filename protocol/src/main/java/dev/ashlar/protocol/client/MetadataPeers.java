package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersStatus;

/** The peers of a metadata group over several processes, and changing who they are. */
public interface MetadataPeers {
  /** The peers and how each is, as the leader knows at this moment. */
  PeersStatus peers() throws MetadataUnavailableException;

  /**
   * Begins to add a peer, to remove one, or to have one take the place of another. {@link #peers}
   * tells how it goes; when the leader is lost meanwhile it may have happened or not, and the next
   * leader only tells who the peers are.
   *
   * @param add HOST:PORT of the new one, which waits there; empty: none
   * @param remove id or HOST:PORT of the one that goes; empty: none
   * @return the change, or why it is refused
   * @throws MetadataUnavailableException when nobody answers: it may have begun
   */
  PeersChangeAnswer changePeers(String add, String remove) throws MetadataUnavailableException;
}
