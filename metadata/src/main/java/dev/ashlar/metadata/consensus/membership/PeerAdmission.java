package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerIds;
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
 * As what a peer may take part, from what the peers of the other processes say of themselves.
 *
 * <p>A folder that was never used may belong to a new group or have been emptied. The group begins
 * when all peers, asked twice, have just been formatted; each then keeps the formats of all of
 * them, durably and before it runs. So whoever comes later finds its own format there, and knows
 * that it has promised nothing yet, or does not, and has forgotten what it promised.
 *
 * @param id in the group
 * @param group formats of the folders with which it began
 * @param members as the others know them; where nobody says, those of a group that begins or began
 */
public record PeerAdmission(
    As as, RaftPeerId id, List<String> group, long termMin, RaftMembers members) {
  public enum As {
    /** Of a group that begins. */
    FOUNDER,
    MEMBER,
    /** Without a vote until it holds what was committed, and only of leaders from termMin on. */
    REBUILDING,
    /** One that was never in the group: it waits to be added. */
    JOINING
  }

  /**
   * Who asks.
   *
   * @param id in the group, as its folder says; null where that is empty and has no place
   * @param format of its folder
   * @param address where it is reached
   * @param joins it is to be added to a group, and never to begin one
   * @param founders where the peers are reached with which a group begins, in their order
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

  /** Nobody in the group is reached where this peer is. */
  public static final class NotAMemberException extends Exception {
    private static final long serialVersionUID = 1;

    NotAMemberException(String message) {
      super(message);
    }
  }

  private static final RaftMembers UNKNOWN = new RaftMembers(Map.of(), Map.of(), -1);

  /**
   * @param first what the others have said when they were asked first
   * @param second what they said when they were asked again
   * @return empty: too few have said too little
   * @throws NotAMemberException when it can begin no group and is not of the one that is there
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
      return ofEmptied(me, second);
    }
    if (!groups.isEmpty()) {
      return Optional.of(founder(me, groups.getFirst()));
    }
    List<String> formats = formats(second);
    boolean areAllNew =
        formats.size() == me.founders().size() - 1 && formats.equals(formats(first));
    return areAllNew
        ? Optional.of(
            founder(me, Stream.concat(Stream.of(me.format()), formats.stream()).sorted().toList()))
        : Optional.empty();
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

  /** Of those that are formatting. */
  private static List<String> formats(Collection<PeerStanding> said) {
    return said.stream()
        .filter(each -> each.getState() == PeerStanding.State.FORMATTING)
        .map(PeerStanding::getFormat)
        .sorted()
        .toList();
  }

  /** Where the group has a peer at its address, it is that one; it has forgotten all. */
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
   * What was cut off may have been acknowledged where it is the drive that lost it, not a crash: a
   * majority of others has it then, and decides. After a power cut it can be missing on all.
   */
  private static Optional<PeerAdmission> ofCut(Candidate me, Collection<PeerStanding> said) {
    Optional<PeerAdmission> rebuilding = ofRebuilding(me.ownId(), said);
    if (rebuilding.isEmpty() && haveAllAnswered(me, said)) {
      return Optional.of(new PeerAdmission(As.MEMBER, me.ownId(), List.of(), 0, UNKNOWN));
    }
    return rebuilding;
  }

  private static boolean haveAllAnswered(Candidate me, Collection<PeerStanding> said) {
    long others = me.founders().stream().filter(each -> !each.equals(me.address())).count();
    return said.size() >= others;
  }

  /**
   * Each entry that was committed, and each leader that was elected, with this peer's forgotten
   * word had a majority with it. A majority of others that remember have one of those among them:
   * the greatest of their terms is not before it. Leaders of that term and later ones have the
   * entry.
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
   * Who the group is, if a majority of it says so that has forgotten nothing. One of those that
   * made the next group out of this one would be among them, and know it.
   *
   * @param but this peer itself, whose word does not count
   */
  static Optional<RaftMembers> known(Collection<PeerStanding> said, RaftPeerId but) {
    var ids =
        remembering(said, but).stream()
            .map(each -> RaftPeerId.valueOf(each.getPeer()))
            .collect(Collectors.toSet());
    return newest(remembering(said, but)).filter(members -> members.isMajority(ids::contains));
  }
}
