package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.transport.Endpoint;
import java.util.Map;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;

/** The leader's report on the peers of the Raft group. */
public final class MembershipReport {
  private MembershipReport() {}

  /**
   * @param standings the states that the other peers report, by address
   * @param knows the latest metadata version that the leader supports
   * @param version the metadata version that it writes now
   */
  public static PeersStatus of(
      RunningPeer running,
      Peer leader,
      Map<Endpoint, PeerStanding> standings,
      MembershipChanges changes,
      int knows,
      int version) {
    RaftMembers members = running.network().members();
    PeersStatus.Builder status =
        PeersStatus.newBuilder()
            .setCommitted(leader.committedIndex())
            .setChange(changes.latest())
            .setVersion(version);
    members
        .peers()
        .forEach(
            (id, place) ->
                status.addPeers(
                    peer(id, place, leader, knows, standings.get(place))
                        .setJoins(members.isChanging() && !members.before().containsKey(id))));
    members.before().entrySet().stream()
        .filter(peer -> !members.peers().containsKey(peer.getKey()))
        .forEach(
            peer ->
                status.addPeers(
                    peer(
                            peer.getKey(),
                            peer.getValue(),
                            leader,
                            knows,
                            standings.get(peer.getValue()))
                        .setLeaves(true)));
    changes
        .coming()
        .filter(place -> members.at(place).isEmpty())
        .ifPresent(place -> status.addPeers(coming(place, standings.get(place))));
    return status.build();
  }

  private static PeersStatus.Peer.Builder peer(
      RaftPeerId id, Endpoint place, Peer leader, int knows, @Nullable PeerStanding standing) {
    PeersStatus.Peer.Builder peer =
        PeersStatus.Peer.newBuilder().setId(id.toString()).setAddress(place.toString());
    if (id.equals(leader.id())) {
      return peer.setLeads(true)
          .setAnswers(true)
          .setStanding(PeerStanding.State.MEMBER.name())
          .setApplied(leader.machine().appliedIndex())
          .setCondition(leader.condition())
          .setKnows(knows);
    }
    return standing != null && standing.getPeer().equals(id.toString())
        ? said(peer, standing)
        : peer;
  }

  private static PeersStatus.Peer.Builder said(
      PeersStatus.Peer.Builder peer, PeerStanding standing) {
    return peer.setAnswers(true)
        .setStanding(standing.getState().name())
        .setApplied(standing.getApplied())
        .setCondition(standing.getCondition())
        .setKnows(MetadataVersion.known(standing.getKnows()));
  }

  private static PeersStatus.Peer coming(Endpoint place, @Nullable PeerStanding standing) {
    PeersStatus.Peer.Builder peer =
        PeersStatus.Peer.newBuilder().setAddress(place.toString()).setJoins(true);
    return standing == null ? peer.build() : said(peer.setId(standing.getPeer()), standing).build();
  }
}
