package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.FolderIdentity.State;
import dev.ashlar.protocol.message.PeerStanding;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * As what a peer may take part, from what the peers of the other processes say of themselves.
 *
 * <p>A folder that was never used may belong to a new group or have been emptied. The group begins
 * when all peers, asked twice, have just been formatted; each then keeps the formats of all of
 * them, durably and before it runs. So whoever comes later finds its own format there, and knows
 * that it has promised nothing yet, or does not, and has forgotten what it promised.
 */
record Admission(As as, List<String> group, long termMin) {
  enum As {
    /** Of a group that begins. */
    FOUNDER,
    MEMBER,
    /** Without a vote until it holds what was committed, and only of leaders from termMin on. */
    REBUILDING
  }

  /**
   * @param places peers of the group
   * @param mine a folder's format, if it is FORMATTING
   * @param first what the others have said when they were asked first
   * @param second what they said when they were asked again
   * @return empty: too few have said too little
   */
  static Optional<Admission> decide(
      State state,
      String mine,
      int places,
      Collection<PeerStanding> first,
      Collection<PeerStanding> second) {
    return switch (state) {
      case MEMBER -> Optional.of(new Admission(As.MEMBER, List.of(), 0));
      case FORMATTING -> ofFormatting(mine, places, first, second);
      case CUT -> ofCut(places, second);
      case REBUILDING -> ofRebuilding(places, second);
    };
  }

  private static Optional<Admission> ofFormatting(
      String mine, int places, Collection<PeerStanding> first, Collection<PeerStanding> second) {
    List<List<String>> groups =
        second.stream()
            .<List<String>>map(PeerStanding::getGroupList)
            .filter(group -> !group.isEmpty())
            .toList();
    if (groups.stream().anyMatch(group -> !group.contains(mine))) {
      return ofRebuilding(places, second);
    }
    if (!groups.isEmpty()) {
      return Optional.of(new Admission(As.FOUNDER, groups.getFirst(), 0));
    }
    List<String> formats = formats(second);
    boolean areAllNew = formats.size() == places - 1 && formats.equals(formats(first));
    return areAllNew
        ? Optional.of(
            new Admission(
                As.FOUNDER, Stream.concat(Stream.of(mine), formats.stream()).sorted().toList(), 0))
        : Optional.empty();
  }

  /** Of those that are formatting. */
  private static List<String> formats(Collection<PeerStanding> said) {
    return said.stream()
        .filter(each -> each.getState() == PeerStanding.State.FORMATTING)
        .map(PeerStanding::getFormat)
        .sorted()
        .toList();
  }

  /**
   * What was cut off may have been acknowledged where it is the drive that lost it, not a crash: a
   * majority of others has it then, and decides. After a power cut it can be missing on all.
   */
  private static Optional<Admission> ofCut(int places, Collection<PeerStanding> said) {
    Optional<Admission> rebuilding = ofRebuilding(places, said);
    if (rebuilding.isEmpty() && said.size() == places - 1) {
      return Optional.of(new Admission(As.MEMBER, List.of(), 0));
    }
    return rebuilding;
  }

  /**
   * Each entry that was committed, and each leader that was elected, with this peer's forgotten
   * word had a majority with it. A majority of others that remember have one of those among them:
   * the greatest of their terms is not before it. Leaders of that term and later ones have the
   * entry.
   */
  private static Optional<Admission> ofRebuilding(int places, Collection<PeerStanding> said) {
    List<PeerStanding> remembering =
        said.stream().filter(each -> each.getState() == PeerStanding.State.MEMBER).toList();
    if (remembering.size() <= places / 2) {
      return Optional.empty();
    }
    long term = remembering.stream().mapToLong(PeerStanding::getTerm).max().orElseThrow();
    List<String> group =
        remembering.stream()
            .<List<String>>map(PeerStanding::getGroupList)
            .filter(each -> !each.isEmpty())
            .findFirst()
            .orElse(List.of());
    return Optional.of(new Admission(As.REBUILDING, group, term));
  }
}
