package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.folder.RestoreMark;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.transport.Endpoint;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;

/**
 * Decides the role in which a peer takes part, from the states that the other peers report.
 *
 * <p>An unused folder may belong to a new Raft group or have been emptied. The group starts when
 * all peers, asked twice, have just been formatted. Each peer then durably records the formats of
 * all of them, before it runs. A peer that comes later and finds its own format among them has
 * promised nothing yet; otherwise its folder has lost what it promised.
 *
 * @param as the role
 * @param id in the Raft group
 * @param group formats of the folders of the founding peers
 * @param termMin when rebuilding, the first term whose leaders the peer may follow
 * @param members according to the other peers; unknown for a founder or an intact member
 */
public record PeerAdmission(
    As as, RaftPeerId id, List<String> group, long termMin, RaftMembers members) {
  public enum As {
    /** A peer of a new Raft group. */
    FOUNDER,
    MEMBER,
    /**
     * Has no vote until it holds everything committed, and follows only leaders from termMin on.
     */
    REBUILDING,
    /** A peer that was never in the Raft group and waits to be added. */
    JOINING
  }

  /**
   * The peer that asks for admission.
   *
   * @param id in the Raft group, according to its folder; null if that is empty and has no place
   * @param format of its folder
   * @param joins whether it waits to be added to a group, and never forms one
   * @param founders the addresses of the founding peers, in their order
   */
  public record Candidate(
      State state,
      @Nullable RaftPeerId id,
      String format,
      Endpoint address,
      boolean joins,
      List<Endpoint> founders) {
    private RaftPeerId ownId() {
      return id == null ? PeerIds.ofJoining(format) : id;
    }
  }

  /** No peer of the Raft group has the address of this peer. */
  public static final class NotAMemberException extends Exception {
    private static final long serialVersionUID = 1;

    NotAMemberException(String message) {
      super(message);
    }
  }

  private static final RaftMembers UNKNOWN = new RaftMembers(Map.of(), Map.of(), -1);

  /**
   * @param first the states that the others reported at first
   * @param second the states that they reported when asked again
   * @return empty while too few have answered
   * @throws NotAMemberException when the peer can form no group and does not belong to the existing
   *     one
   */
  public static Optional<PeerAdmission> decide(
      Candidate me, Collection<PeerStanding> first, Collection<PeerStanding> second)
      throws NotAMemberException {
    return switch (me.state()) {
      case MEMBER, JOINING -> Optional.of(member(me));
      case FORMATTING -> me.joins() ? ofJoining(me, second) : ofFormatting(me, first, second);
      case CUT -> ofCut(me, second);
      case REBUILDING -> ofRebuilding(me.ownId(), second);
      case REMOVED -> throw new NotAMemberException("it was removed from the Raft group");
    };
  }

  private static PeerAdmission member(Candidate me) {
    As as = me.state() == State.JOINING ? As.JOINING : As.MEMBER;
    return new PeerAdmission(as, me.ownId(), List.of(), 0, UNKNOWN);
  }

  private static Optional<PeerAdmission> ofFormatting(
      Candidate me, Collection<PeerStanding> first, Collection<PeerStanding> second)
      throws NotAMemberException {
    List<List<String>> groups =
        second.stream()
            .<List<String>>map(PeerStanding::getGroupList)
            .filter(group -> !group.isEmpty())
            .toList();
    if (second.stream().anyMatch(each -> !each.getPeer().isEmpty() && isOfAGroup(each))
        && groups.stream().noneMatch(group -> group.contains(me.format()))) {
      requireNotRestored(me);
      return ofEmptied(me, second);
    }
    if (!groups.isEmpty()) {
      return Optional.of(founder(me, groups.getFirst()));
    }
    List<String> formats = formats(second);
    boolean areAllNew =
        formats.size() == me.founders().size() - 1
            && formats.equals(formats(first))
            && areOfOneRestore(me, second);
    return areAllNew
        ? Optional.of(
            founder(me, Stream.concat(Stream.of(me.format()), formats.stream()).sorted().toList()))
        : Optional.empty();
  }

  /** What a backup had must not meet what a group that exists has promised. */
  private static void requireNotRestored(Candidate me) throws NotAMemberException {
    if (!RestoreMark.ofFormat(me.format()).isEmpty()) {
      throw new NotAMemberException(
          "its folder was restored from a backup, but other peers belong to a Raft group: empty the"
              + " folder to rebuild it from them; or empty those of all peers and restore them all");
    }
  }

  /**
   * Whether the folders of all peers that are formatting are empty, or were filled by the same
   * restore from a backup: a group begins with the same tables everywhere.
   */
  public static boolean areOfOneRestore(Candidate me, Collection<PeerStanding> said) {
    String own = RestoreMark.ofFormat(me.format());
    return formats(said).stream().map(RestoreMark::ofFormat).allMatch(own::equals);
  }

  private static boolean isOfAGroup(PeerStanding other) {
    return switch (other.getState()) {
      case MEMBER, CUT, REBUILDING -> true;
      case FORMATTING, JOINING, REMOVED, UNRECOGNIZED -> false;
    };
  }

  private static PeerAdmission founder(Candidate me, List<String> group) {
    return new PeerAdmission(As.FOUNDER, me.ownId(), group, 0, UNKNOWN);
  }

  /** The formats of the peers that are formatting. */
  private static List<String> formats(Collection<PeerStanding> said) {
    return said.stream()
        .filter(each -> each.getState() == PeerStanding.State.FORMATTING)
        .map(PeerStanding::getFormat)
        .sorted()
        .toList();
  }

  /** If the group has a peer at this address, this is that peer with its content lost. */
  private static Optional<PeerAdmission> ofEmptied(Candidate me, Collection<PeerStanding> said)
      throws NotAMemberException {
    Optional<RaftMembers> newest = newest(said);
    if (newest.isEmpty()) {
      return Optional.empty();
    }
    Optional<RaftPeerId> id = newest.get().at(me.address());
    if (id.isPresent()) {
      return ofRebuilding(id.get(), said);
    }
    if (known(said, me.ownId()).isEmpty()) {
      return Optional.empty();
    }
    throw new NotAMemberException(
        "its folder is empty and the Raft group has no peer at "
            + me.address()
            + ": start it with --metadata-join to add it");
  }

  private static Optional<PeerAdmission> ofJoining(Candidate me, Collection<PeerStanding> said) {
    RaftPeerId fresh = me.ownId();
    Optional<RaftPeerId> id = newest(said).flatMap(members -> members.at(me.address()));
    if (id.isPresent() && !id.get().equals(fresh)) {
      return ofRebuilding(id.get(), said);
    }
    return known(said, fresh)
        .map(members -> new PeerAdmission(As.JOINING, fresh, List.of(), 0, members));
  }

  /**
   * If the drive rather than a crash lost the end of the log, that end may have been acknowledged;
   * then a majority of the others has it and decides. After a power cut it may be missing on all
   * peers.
   */
  private static Optional<PeerAdmission> ofCut(Candidate me, Collection<PeerStanding> said) {
    Optional<PeerAdmission> rebuilding = ofRebuilding(me.ownId(), said);
    if (rebuilding.isEmpty() && haveAllAnswered(me, said)) {
      return Optional.of(member(me));
    }
    return rebuilding;
  }

  private static boolean haveAllAnswered(Candidate me, Collection<PeerStanding> said) {
    long others = me.founders().stream().filter(each -> !each.equals(me.address())).count();
    return said.size() >= others;
  }

  /**
   * Every entry committed and every leader elected with a vote or acknowledgement that this peer
   * has lost had a majority. A majority of other, intact peers includes one of that majority, so
   * the greatest of their terms is not earlier. Leaders of that and later terms have the entry.
   */
  private static Optional<PeerAdmission> ofRebuilding(
      RaftPeerId id, Collection<PeerStanding> said) {
    Optional<RaftMembers> known = known(said, id);
    if (known.isEmpty()) {
      return Optional.empty();
    }
    List<PeerStanding> remembering = remembering(said, id);
    long term = remembering.stream().mapToLong(PeerStanding::getTerm).max().orElse(0);
    List<String> group =
        remembering.stream()
            .<List<String>>map(PeerStanding::getGroupList)
            .filter(each -> !each.isEmpty())
            .findFirst()
            .orElse(List.of());
    return Optional.of(new PeerAdmission(As.REBUILDING, id, group, term, known.get()));
  }

  private static List<PeerStanding> remembering(Collection<PeerStanding> said, RaftPeerId but) {
    return said.stream()
        .filter(each -> each.getState() == PeerStanding.State.MEMBER && each.hasMembers())
        .filter(each -> !each.getPeer().equals(but.toString()))
        .toList();
  }

  private static Optional<RaftMembers> newest(Collection<PeerStanding> said) {
    return said.stream()
        .filter(each -> each.getState() == PeerStanding.State.MEMBER && each.hasMembers())
        .map(each -> RaftMembers.of(each.getMembers()))
        .max(Comparator.comparingLong(RaftMembers::index));
  }

  /**
   * The members, if a majority of intact peers reports them. A later membership would be known to
   * at least one peer of that majority.
   *
   * @param but this peer itself, which does not count
   */
  static Optional<RaftMembers> known(Collection<PeerStanding> said, RaftPeerId but) {
    var ids =
        remembering(said, but).stream()
            .map(each -> RaftPeerId.valueOf(each.getPeer()))
            .collect(Collectors.toSet());
    return newest(remembering(said, but)).filter(members -> members.isMajority(ids::contains));
  }
}
