package dev.ashlar.metadata.consensus.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.membership.PeerAdmission.As;
import dev.ashlar.metadata.consensus.membership.PeerAdmission.NotAMemberException;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.transport.Endpoint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

class PeerAdmissionTest {
  private static final List<String> GROUP = List.of("a", "b", "c");
  private static final List<Endpoint> PLACES =
      IntStream.rangeClosed(1, 3).mapToObj(PeerAdmissionTest::place).toList();
  private static final RaftMembers THREE = members(7, 1, 2, 3);

  private static Endpoint place(int port) {
    return new Endpoint("h", port);
  }

  /** Peers with these numbers, each at the port of its number. */
  private static RaftMembers members(long index, int... numbers) {
    Map<RaftPeerId, Endpoint> peers = new LinkedHashMap<>();
    for (int number : numbers) {
      peers.put(PeerIds.ofFounder(number - 1), place(number));
    }
    return new RaftMembers(peers, Map.of(), index);
  }

  private static PeerStanding formatting(String format) {
    return PeerStanding.newBuilder()
        .setState(PeerStanding.State.FORMATTING)
        .setFormat(format)
        .build();
  }

  private static PeerStanding member(
      int number, long term, List<String> group, RaftMembers members) {
    return PeerStanding.newBuilder()
        .setPeer(PeerIds.ofFounder(number - 1).toString())
        .setState(PeerStanding.State.MEMBER)
        .setTerm(term)
        .addAllGroup(group)
        .setMembers(members.toMessage())
        .build();
  }

  private static PeerStanding of(int number, PeerStanding.State state) {
    return PeerStanding.newBuilder()
        .setPeer(PeerIds.ofFounder(number - 1).toString())
        .setState(state)
        .setFormat("x")
        .build();
  }

  /** The third of three. */
  private static PeerAdmission.Candidate third(State state) {
    return new PeerAdmission.Candidate(state, PeerIds.ofFounder(2), "c", place(3), false, PLACES);
  }

  private static PeerAdmission.Candidate joining(int port) {
    String format = "12345678-90ab-cdef-0000-000000000000";
    return new PeerAdmission.Candidate(State.FORMATTING, null, format, place(port), true, PLACES);
  }

  private static Optional<PeerAdmission> decide(
      PeerAdmission.Candidate who, List<PeerStanding> said) throws NotAMemberException {
    return PeerAdmission.decide(who, said, said);
  }

  private static Optional<PeerAdmission> decide(State state, List<PeerStanding> said)
      throws NotAMemberException {
    return decide(third(state), said);
  }

  private static final Optional<PeerAdmission> NOT_YET = Optional.empty();
  private static final RaftMembers UNKNOWN = new RaftMembers(Map.of(), Map.of(), -1);

  private static Optional<PeerAdmission> as(
      As as, List<String> group, long termMin, RaftMembers members) {
    return Optional.of(new PeerAdmission(as, PeerIds.ofFounder(2), group, termMin, members));
  }

  @Test
  void aGroupBeginsWhenAllHaveJustBeenFormattedTwice() throws Exception {
    List<PeerStanding> others = List.of(formatting("b"), formatting("a"));
    assertEquals(as(As.FOUNDER, GROUP, 0, UNKNOWN), decide(State.FORMATTING, others));
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(formatting("b"))));
    assertEquals(
        NOT_YET,
        PeerAdmission.decide(third(State.FORMATTING), List.of(formatting("b")), others),
        "they did not all say so before");
    assertEquals(
        NOT_YET,
        PeerAdmission.decide(
            third(State.FORMATTING), List.of(formatting("b"), formatting("z")), others),
        "one was formatted again");
    assertEquals(
        NOT_YET,
        decide(State.FORMATTING, List.of(formatting("b"), of(1, PeerStanding.State.JOINING))),
        "one waits for a group");
  }

  @Test
  void latePeerFindsItselfInTheGroup() throws Exception {
    assertEquals(
        as(As.FOUNDER, GROUP, 0, UNKNOWN),
        decide(State.FORMATTING, List.of(member(1, 1, GROUP, THREE))));
  }

  @Test
  void emptiedPeerFormsNoGroupAndFollowsAMajorityOfOthers() throws Exception {
    List<String> before = List.of("a", "b", "old");
    PeerStanding one = member(1, 4, before, THREE);
    PeerStanding other = member(2, 7, before, THREE);
    Optional<PeerAdmission> rebuilding = as(As.REBUILDING, before, 7, THREE);
    assertEquals(rebuilding, decide(State.FORMATTING, List.of(one, other)));
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(one)));
    assertEquals(
        NOT_YET, decide(State.FORMATTING, List.of(one, of(2, PeerStanding.State.REBUILDING))));
    assertEquals(
        NOT_YET,
        decide(State.FORMATTING, List.of(one, formatting("new too"))),
        "two of three have forgotten");
    assertEquals(rebuilding, decide(State.REBUILDING, List.of(one, other)));
  }

  @Test
  void majorityIsOfThePresentMembers() throws Exception {
    List<String> before = List.of("a", "b", "old");
    RaftMembers five = members(9, 1, 2, 3, 4, 5);
    PeerStanding one = member(1, 4, before, five);
    PeerStanding behind = member(2, 7, before, THREE);
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(one, behind)), "two of five");
    assertEquals(
        as(As.REBUILDING, before, 7, five),
        decide(State.FORMATTING, List.of(one, behind, member(4, 5, List.of(), five))));
    RaftMembers changing = new RaftMembers(members(9, 1, 4, 5).peers(), THREE.peers(), 9);
    List<PeerStanding> both =
        List.of(member(1, 4, before, changing), member(4, 4, List.of(), changing));
    assertEquals(NOT_YET, decide(State.FORMATTING, both), "one of those before");
  }

  @Test
  void replacedPeerIsNotRebuiltAndFormsNoGroup() throws Exception {
    RaftMembers without = members(9, 1, 2, 4);
    List<PeerStanding> said =
        List.of(member(1, 4, List.of(), without), member(2, 4, List.of(), without));
    NotAMemberException refused =
        assertThrows(NotAMemberException.class, () -> decide(State.FORMATTING, said));
    assertTrue(String.valueOf(refused.getMessage()).contains("--metadata-join"));
    assertThrows(NotAMemberException.class, () -> decide(State.REMOVED, said));
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(said.getFirst())));
  }

  @Test
  void joiningPeerFormsNoGroupAndNeedsAMajority() throws Exception {
    List<PeerStanding> founders = List.of(formatting("a"), formatting("b"), formatting("c"));
    assertEquals(NOT_YET, decide(joining(4), founders));
    PeerStanding one = member(1, 4, GROUP, THREE);
    assertEquals(NOT_YET, decide(joining(4), List.of(one)));
    PeerAdmission joins =
        decide(joining(4), List.of(one, member(2, 4, GROUP, THREE))).orElseThrow();
    assertEquals(As.JOINING, joins.as());
    assertEquals("m-1234567890ab", joins.id().toString());
    assertEquals(THREE, joins.members());
  }

  @Test
  void joiningPeerAtTheAddressOfAMemberIsThatMemberEmptied() throws Exception {
    List<PeerStanding> said =
        List.of(member(1, 4, List.of(), THREE), member(2, 5, List.of(), THREE));
    assertEquals(as(As.REBUILDING, List.of(), 5, THREE), decide(joining(3), said));
  }

  @Test
  void aCutLogCountsAsLossOnlyWhereAMajorityOfOthersIsWhole() throws Exception {
    List<PeerStanding> whole = List.of(member(1, 4, GROUP, THREE), member(2, 4, GROUP, THREE));
    assertEquals(as(As.REBUILDING, GROUP, 4, THREE), decide(State.CUT, whole));
    assertEquals(NOT_YET, decide(State.CUT, whole.subList(0, 1)));
    assertEquals(
        as(As.MEMBER, List.of(), 0, UNKNOWN),
        decide(State.CUT, List.of(whole.getFirst(), of(2, PeerStanding.State.CUT))));
  }

  @Test
  void aMemberAsksNobody() throws Exception {
    assertEquals(as(As.MEMBER, List.of(), 0, UNKNOWN), decide(State.MEMBER, List.of()));
    assertEquals(as(As.JOINING, List.of(), 0, UNKNOWN), decide(State.JOINING, List.of()));
  }
}
