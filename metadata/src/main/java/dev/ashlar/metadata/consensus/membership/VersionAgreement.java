package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.network.PeerConnections;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.transport.Endpoint;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines the metadata version of a leader's entries: the version in use, until every peer of
 * the Raft group supports a later one. A peer that is restarted with an older build afterwards
 * stops before the first such entry.
 */
public final class VersionAgreement {
  private static final Logger LOG = LoggerFactory.getLogger(VersionAgreement.class);
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final int knows;
  private final PeerConnections others;
  private volatile Agreed agreed = new Agreed(-1, MetadataVersion.FIRST);
  private long lookedNanos = System.nanoTime() - LOOK.toNanos();
  private String lastReason = "";

  /**
   * An agreement is valid in the term of the leader that asked: other peers may join under another
   * leader.
   */
  private record Agreed(long term, int version) {}

  /**
   * @param knows the latest version that this peer supports
   */
  public VersionAgreement(int knows, PeerConnections others) {
    this.knows = knows;
    this.others = others;
  }

  /** The version of an entry that this peer writes now, if it leads. */
  public int toWrite(Peer peer) {
    Agreed last = agreed;
    int used = peer.machine().version();
    return last.term() == peer.term() ? Math.max(used, last.version()) : used;
  }

  /**
   * Called periodically by one thread: asks the other peers while a later version may be agreed on.
   *
   * @param changes blocked meanwhile, so that no peer is added that was not asked
   */
  void look(RunningPeer running, MembershipChanges changes) throws InterruptedException {
    Peer peer = running.peer();
    long now = System.nanoTime();
    if (toWrite(peer) < knows && peer.isLeaderReady() && now - lookedNanos >= LOOK.toNanos()) {
      lookedNanos = now;
      changes.betweenChanges(() -> ask(running));
    }
  }

  private void ask(RunningPeer running) throws InterruptedException {
    Peer peer = running.peer();
    long term = peer.term();
    RaftMembers members = running.network().members();
    Map<Endpoint, PeerStanding> standings = others.standings();
    Map<RaftPeerId, Endpoint> all = members.all();
    all.remove(peer.id());
    int used = peer.machine().version();
    int version = knows;
    String reason = "";
    for (Map.Entry<RaftPeerId, Endpoint> other : all.entrySet()) {
      OptionalInt theirs = known(standings.get(other.getValue()), other.getKey());
      if (theirs.orElse(used) < version) {
        version = theirs.orElse(used);
        reason =
            String.format(
                "%s at %s %s",
                other.getKey(),
                other.getValue(),
                theirs.isPresent() ? "knows " + version : "does not answer");
      }
    }
    if (version > used && peer.isLeader() && peer.term() == term) {
      agreed = new Agreed(term, version);
      LOG.info(
          "All metadata peers support metadata version {}; it is in use from now on.", version);
    }
    if (!reason.equals(lastReason) && !reason.isEmpty()) {
      LOG.info(
          "The metadata version stays at {}, although this peer supports {}: {}",
          version,
          knows,
          reason);
    }
    lastReason = reason;
  }

  /** Empty if that peer has not answered. */
  private static OptionalInt known(@Nullable PeerStanding standing, RaftPeerId id) {
    return standing != null && standing.getPeer().equals(id.toString())
        ? OptionalInt.of(MetadataVersion.known(standing.getKnows()))
        : OptionalInt.empty();
  }
}
