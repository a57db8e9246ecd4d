package dev.ashlar.server.admin;

import dev.ashlar.protocol.client.MetadataPeers;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersChangeStatus;
import dev.ashlar.protocol.message.PeersStatus;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What {@code /admin/metadata} tells of the metadata peers, and does with them. */
public final class MetadataAdmin {
  private final @Nullable MetadataPeers peers;

  /**
   * @param peers null where the metadata is all in this process
   */
  public MetadataAdmin(@Nullable MetadataPeers peers) {
    this.peers = peers;
  }

  /**
   * The group.
   *
   * @param committed the last log entry of which the leader knows that it is committed
   * @param tolerates how many of the peers that answer may be lost before nothing is decided, or
   *     none is left that can read its tables
   * @param version of metadata that is in use
   * @param change the latest that the leader has begun; null: none since it leads
   */
  public record Page(
      List<PeerInfo> peers, long committed, int tolerates, int version, @Nullable Change change) {}

  /**
   * A peer.
   *
   * @param standing member, joining, rebuilding …; empty where it does not answer
   * @param condition whole, damaged (it votes, but cannot read all of its tables) or stopped (it
   *     does not vote); empty where it does not tell
   * @param applied the last log entry that its tables hold; null where it does not answer
   * @param lag entries that it lacks; likewise
   * @param knows the greatest version of metadata that its build knows; likewise
   * @param change joins, leaves or empty
   */
  public record PeerInfo(
      String id,
      String address,
      boolean leads,
      boolean answers,
      String standing,
      String condition,
      @Nullable Long applied,
      @Nullable Long lag,
      @Nullable Integer knows,
      String change) {}

  /**
   * A change of the group.
   *
   * @param state running, done or failed
   * @param why it has failed; else empty
   */
  public record Change(long number, String state, String what, String why) {}

  private MetadataPeers present() throws Admin.RefusedException {
    if (peers == null) {
      throw new Admin.RefusedException(
          "the metadata of this store is in its one process: /health tells of its folders");
    }
    return peers;
  }

  public Page page() throws MetadataUnavailableException, Admin.RefusedException {
    PeersStatus status = present().peers();
    List<PeerInfo> infos =
        status.getPeersList().stream().map(peer -> info(peer, status.getCommitted())).toList();
    PeersChangeStatus change = status.getChange();
    return new Page(
        infos,
        status.getCommitted(),
        tolerates(infos),
        status.getVersion(),
        change.getNumber() == 0 ? null : change(change));
  }

  private static PeerInfo info(PeersStatus.Peer peer, long committed) {
    boolean answers = peer.getAnswers();
    return new PeerInfo(
        peer.getId(),
        peer.getAddress(),
        peer.getLeads(),
        answers,
        peer.getStanding().toLowerCase(Locale.ROOT),
        peer.getCondition() == PeerStanding.Condition.UNKNOWN
            ? ""
            : peer.getCondition().name().toLowerCase(Locale.ROOT),
        answers ? peer.getApplied() : null,
        answers ? Math.max(0, committed - peer.getApplied()) : null,
        answers ? peer.getKnows() : null,
        peer.getJoins() ? "joins" : peer.getLeaves() ? "leaves" : "");
  }

  private static int tolerates(List<PeerInfo> infos) {
    List<PeerInfo> counting =
        infos.stream().filter(peer -> !peer.change().equals("joins")).toList();
    List<PeerInfo> voters =
        counting.stream()
            .filter(peer -> peer.answers() && peer.standing().equals("member"))
            .filter(peer -> !peer.condition().equals("stopped"))
            .toList();
    long readable = voters.stream().filter(peer -> !peer.condition().equals("damaged")).count();
    return (int) Math.max(0, Math.min(readable - 1, voters.size() - (counting.size() / 2 + 1)));
  }

  private static Change change(PeersChangeStatus change) {
    return new Change(
        change.getNumber(),
        change.getState().name().toLowerCase(Locale.ROOT),
        change.getWhat(),
        change.getWhy());
  }

  /**
   * Begins a change.
   *
   * @param add HOST:PORT; empty: none comes
   * @param remove an id or HOST:PORT; empty: none goes
   */
  public Change change(String add, String remove)
      throws MetadataUnavailableException, Admin.RefusedException {
    PeersChangeAnswer answer = present().changePeers(add, remove);
    if (!answer.getRefusal().isEmpty()) {
      throw new Admin.RefusedException(answer.getRefusal());
    }
    return change(answer.getChange());
  }
}
