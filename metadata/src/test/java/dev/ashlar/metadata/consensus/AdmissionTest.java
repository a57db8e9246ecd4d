package dev.ashlar.metadata.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.consensus.Admission.As;
import dev.ashlar.metadata.consensus.FolderIdentity.State;
import dev.ashlar.protocol.message.PeerStanding;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdmissionTest {
  private static final List<String> GROUP = List.of("a", "b", "c");

  private static PeerStanding formatting(String format) {
    return PeerStanding.newBuilder()
        .setState(PeerStanding.State.FORMATTING)
        .setFormat(format)
        .build();
  }

  private static PeerStanding member(String format, long term, List<String> group) {
    return PeerStanding.newBuilder()
        .setState(PeerStanding.State.MEMBER)
        .setFormat(format)
        .setTerm(term)
        .addAllGroup(group)
        .build();
  }

  private static PeerStanding of(PeerStanding.State state) {
    return PeerStanding.newBuilder().setState(state).setFormat("x").build();
  }

  private static Optional<Admission> decide(State state, List<PeerStanding> said) {
    return Admission.decide(state, "c", 3, said, said);
  }

  private static final Optional<Admission> NOT_YET = Optional.empty();

  @Test
  void aGroupBeginsWhenAllHaveJustBeenFormattedTwice() {
    List<PeerStanding> others = List.of(formatting("b"), formatting("a"));
    assertEquals(
        Optional.of(new Admission(As.FOUNDER, GROUP, 0)), decide(State.FORMATTING, others));
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(formatting("b"))));
    assertEquals(
        NOT_YET,
        Admission.decide(State.FORMATTING, "c", 3, List.of(formatting("b")), others),
        "they did not all say so before");
    assertEquals(
        NOT_YET,
        Admission.decide(
            State.FORMATTING, "c", 3, List.of(formatting("b"), formatting("z")), others),
        "one was formatted again");
  }

  @Test
  void oneThatIsLateFindsItselfInTheGroup() {
    assertEquals(
        Optional.of(new Admission(As.FOUNDER, GROUP, 0)),
        decide(State.FORMATTING, List.of(member("a", 1, GROUP))));
  }

  @Test
  void oneThatWasEmptiedDoesNotAndFollowsOnlyWhatAMajorityOfOthersKnows() {
    List<String> before = List.of("a", "b", "old");
    PeerStanding one = member("a", 4, before);
    PeerStanding other = member("b", 7, before);
    assertEquals(
        Optional.of(new Admission(As.REBUILDING, before, 7)),
        decide(State.FORMATTING, List.of(one, other)));
    assertEquals(NOT_YET, decide(State.FORMATTING, List.of(one)));
    assertEquals(
        NOT_YET, decide(State.FORMATTING, List.of(one, of(PeerStanding.State.REBUILDING))));
    assertEquals(
        NOT_YET,
        decide(State.FORMATTING, List.of(one, formatting("new too"))),
        "two of three have forgotten");
    assertEquals(
        Optional.of(new Admission(As.REBUILDING, before, 7)),
        decide(State.REBUILDING, List.of(one, other)));
  }

  @Test
  void aCutLogCountsAsLossOnlyWhereAMajorityOfOthersIsWhole() {
    PeerStanding whole = member("a", 4, GROUP);
    assertEquals(
        Optional.of(new Admission(As.REBUILDING, GROUP, 4)),
        decide(State.CUT, List.of(whole, whole)));
    assertEquals(NOT_YET, decide(State.CUT, List.of(whole)));
    assertEquals(
        Optional.of(new Admission(As.MEMBER, List.of(), 0)),
        decide(State.CUT, List.of(whole, of(PeerStanding.State.CUT))));
  }

  @Test
  void aMemberAsksNobody() {
    assertEquals(
        Optional.of(new Admission(As.MEMBER, List.of(), 0)), decide(State.MEMBER, List.of()));
  }
}
