package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerFolder;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import java.util.Map;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;

/** What a peer reports of itself, and the leader of the peers of the Raft group. */
public final class MembershipReport {
  private MembershipReport() {}

  /** This peer's state, as it reports it to others; refused while it cannot tell its term. */
  public static CallAnswer standing(
      PeerConfig config, PeerFolder folder, @Nullable RunningPeer now) {
    State state = folder.state();
    if (now == null && (state == State.MEMBER || state == State.JOINING)) {
      // Its term is unknown before it runs, and it must not look like a peer that has forgotten it.
      return CallAnswer.because(Outcome.REFUSED, "the peer does not take part yet");
    }
    boolean isToJoin = state == State.FORMATTING && config.joins();
    RaftPeerId id = folder.id();
    PeerStanding.Builder standing =
        PeerStanding.newBuilder()
            .setPeer(id == null ? "" : id.toString())
            .setState(
                isToJoin ? PeerStanding.State.JOINING : PeerStanding.State.valueOf(state.name()))
            .setFormat(folder.format())
            .addAllGroup(folder.group())
            .setKnows(config.knows())
            .setTakesOver(now == null || !now.network().isEnding());
    if (now != null) {
      // The term is read first: a leader of a later term has committed no less.
      standing
          .setTerm(now.peer().term())
          .setLeads(now.peer().isLeaderReady())
          .setCondition(now.peer().condition())
          .setCommitted(now.peer().committedIndex())
          .setApplied(now.peer().machine().appliedIndex())
          .setMembers(now.network().members().toMessage());
    }
    return CallAnswer.done(standing.build().toByteArray());
  }

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
        .all()
        .forEach(
            (id, place) ->
                status.addPeers(
                    peer(id, place, leader, knows, standings.get(place))
                        .setJoins(members.isChanging() && !members.before().containsKey(id))
                        .setLeaves(!members.peers().containsKey(id))));
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
