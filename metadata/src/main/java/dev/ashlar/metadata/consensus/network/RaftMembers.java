package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.protocol.message.MetadataGroup;
import dev.ashlar.protocol.message.MetadataPeerRow;
import dev.ashlar.transport.Endpoint;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;

/**
 * The members of a Raft group and their addresses.
 *
 * @param peers the present members or, during a change, the new ones
 * @param before during a change, the old members: a majority of both is needed; otherwise empty
 * @param index of the log entry with these members; -1: there is none yet
 */
public record RaftMembers(
    Map<RaftPeerId, Endpoint> peers, Map<RaftPeerId, Endpoint> before, long index) {
  public RaftMembers {
    peers = Collections.unmodifiableMap(new LinkedHashMap<>(peers));
    before = Collections.unmodifiableMap(new LinkedHashMap<>(before));
  }

  /**
   * @param founders the addresses of the founding peers, by their places; for entries that do not
   *     tell
   */
  public static RaftMembers of(RaftConfiguration entry, List<Endpoint> founders) {
    return new RaftMembers(
        reached(entry.getCurrentPeers(), founders),
        reached(entry.getPreviousPeers(), founders),
        entry.getLogEntryIndex());
  }

  private static Map<RaftPeerId, Endpoint> reached(
      Collection<RaftPeer> peers, List<Endpoint> founders) {
    Map<RaftPeerId, Endpoint> reached = new LinkedHashMap<>();
    peers.forEach(peer -> reached.put(peer.getId(), endpoint(peer, founders)));
    return reached;
  }

  /** The address of a peer. */
  public static Endpoint endpoint(RaftPeer peer, List<Endpoint> founders) {
    String address = peer.getAddress();
    if (address != null && !address.isEmpty()) {
      return Endpoint.parse(address);
    }
    int place = PeerIds.placeOf(peer.getId());
    if (place < 0 || place >= founders.size()) {
      throw new IllegalStateException("no address of metadata peer " + peer.getId());
    }
    return founders.get(place);
  }

  public static RaftMembers of(MetadataGroup message) {
    return new RaftMembers(
        peers(message.getPeersList()), peers(message.getBeforeList()), message.getIndex());
  }

  private static Map<RaftPeerId, Endpoint> peers(List<MetadataPeerRow> rows) {
    Map<RaftPeerId, Endpoint> peers = new LinkedHashMap<>();
    rows.forEach(
        row -> peers.put(RaftPeerId.valueOf(row.getId()), Endpoint.parse(row.getAddress())));
    return peers;
  }

  public MetadataGroup toMessage() {
    return MetadataGroup.newBuilder()
        .addAllPeers(rows(peers))
        .addAllBefore(rows(before))
        .setIndex(index)
        .build();
  }

  private static List<MetadataPeerRow> rows(Map<RaftPeerId, Endpoint> peers) {
    return peers.entrySet().stream()
        .map(
            peer ->
                MetadataPeerRow.newBuilder()
                    .setId(peer.getKey().toString())
                    .setAddress(peer.getValue().toString())
                    .build())
        .toList();
  }

  /** The peers in Ratis' form. */
  public static List<RaftPeer> toRaft(Map<RaftPeerId, Endpoint> peers) {
    return peers.entrySet().stream()
        .map(
            peer ->
                RaftPeer.newBuilder()
                    .setId(peer.getKey())
                    .setAddress(peer.getValue().toString())
                    .build())
        .toList();
  }

  /** All new and old members. */
  public Map<RaftPeerId, Endpoint> all() {
    Map<RaftPeerId, Endpoint> all = new LinkedHashMap<>(peers);
    before.forEach(all::putIfAbsent);
    return all;
  }

  public boolean isChanging() {
    return !before.isEmpty();
  }

  public boolean contains(RaftPeerId id) {
    return peers.containsKey(id) || before.containsKey(id);
  }

  /** Whether this peer is the only member. */
  public boolean isOnly(RaftPeerId id) {
    return !isChanging() && peers.size() == 1 && peers.containsKey(id);
  }

  /** Whether the selected members are a majority. */
  public boolean isMajority(Predicate<RaftPeerId> which) {
    return isMajority(peers.keySet(), which)
        && (!isChanging() || isMajority(before.keySet(), which));
  }

  private static boolean isMajority(Set<RaftPeerId> ids, Predicate<RaftPeerId> which) {
    return ids.stream().filter(which).count() > ids.size() / 2;
  }

  public Optional<Endpoint> endpoint(RaftPeerId id) {
    return Optional.ofNullable(peers.getOrDefault(id, before.get(id)));
  }

  /** The member with this address. */
  public Optional<RaftPeerId> at(Endpoint endpoint) {
    return peers.entrySet().stream()
        .filter(peer -> peer.getValue().equals(endpoint))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /** The addresses of all old and new members. */
  public Set<Endpoint> endpoints() {
    Set<Endpoint> endpoints = new LinkedHashSet<>(peers.values());
    endpoints.addAll(before.values());
    return endpoints;
  }
}
