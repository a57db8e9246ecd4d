package dev.ashlar.metadata.consensus.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

class LeaderLeaseTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final RaftPeerId A = RaftPeerId.valueOf("a");
  private static final RaftPeerId B = RaftPeerId.valueOf("b");
  private static final RaftPeerId C = RaftPeerId.valueOf("c");
  private static final RaftPeerId D = RaftPeerId.valueOf("d");
  private static final RaftPeerId LEADER = RaftPeerId.valueOf("leader");
  private static final RaftMembers FIVE = new RaftMembers(peers(LEADER, A, B, C, D), Map.of(), 1);
  private static final RaftMembers THREE = new RaftMembers(peers(LEADER, A, B), Map.of(), 1);

  private static Map<RaftPeerId, Endpoint> peers(RaftPeerId... ids) {
    return Stream.of(ids).collect(Collectors.toMap(id -> id, id -> new Endpoint("h", 1)));
  }

  private static long now() {
    return System.nanoTime();
  }

  @Test
  void aMajorityHoldsItForItsTerm() {
    LeaderLease lease = new LeaderLease(LEADER, DAY);
    assertEquals(false, lease.isHeld(0));
    lease.acknowledged(A, 3, now(), FIVE);
    lease.acknowledged(A, 3, now(), FIVE);
    assertEquals(false, lease.isHeld(3), "one of four is no majority with the leader");
    lease.acknowledged(B, 2, now(), FIVE);
    assertEquals(false, lease.isHeld(3));
    lease.acknowledged(B, 3, now(), FIVE);
    assertEquals(true, lease.isHeld(3));
    assertEquals(false, lease.isHeld(4));
    lease.acknowledged(A, 2, now(), FIVE);
    assertEquals(true, lease.isHeld(3), "late answers of the term before");
  }

  @Test
  void itCountsFromWhenTheLastOfTheMajorityWasAsked() {
    LeaderLease lease = new LeaderLease(LEADER, DAY);
    lease.acknowledged(A, 1, now(), FIVE);
    lease.acknowledged(B, 1, now() - DAY.toNanos(), FIVE);
    assertEquals(false, lease.isHeld(1));
    LeaderLease ofThree = new LeaderLease(LEADER, DAY);
    ofThree.acknowledged(A, 1, now() - DAY.toNanos(), THREE);
    assertEquals(false, ofThree.isHeld(1));
    ofThree.acknowledged(B, 1, now(), THREE);
    assertEquals(true, ofThree.isHeld(1));
    ofThree.acknowledged(A, 1, now() - DAY.toNanos(), THREE);
    assertEquals(true, ofThree.isHeld(1), "a late answer takes nothing away");
  }

  @Test
  void whileTheMembersChangeBothNeedAMajority() {
    LeaderLease lease = new LeaderLease(LEADER, DAY);
    RaftMembers changing = new RaftMembers(peers(LEADER, C, D), peers(LEADER, A, B), 2);
    lease.acknowledged(A, 1, now(), changing);
    assertEquals(false, lease.isHeld(1), "of those before only");
    lease.acknowledged(C, 1, now() - DAY.toNanos(), changing);
    assertEquals(false, lease.isHeld(1), "one of those after, long ago");
    lease.acknowledged(C, 1, now(), changing);
    assertEquals(true, lease.isHeld(1));
  }

  @Test
  void nonMembersDoNotCount() {
    LeaderLease lease = new LeaderLease(LEADER, DAY);
    lease.acknowledged(C, 1, now(), THREE);
    assertEquals(false, lease.isHeld(1));
    RaftMembers without = new RaftMembers(peers(A, B, C), Map.of(), 3);
    lease.acknowledged(A, 1, now(), without);
    assertEquals(true, lease.isHeld(1), "two others of three, the leader is leaving");
    LeaderLease leaving = new LeaderLease(LEADER, DAY);
    leaving.acknowledged(A, 1, now(), without);
    assertEquals(false, leaving.isHeld(1));
  }

  @Test
  void whatIsGivenUpIsNotTakenBackInTheSameTerm() {
    LeaderLease lease = new LeaderLease(LEADER, DAY);
    lease.acknowledged(A, 3, now(), THREE);
    assertEquals(true, lease.isHeld(3));
    lease.giveUp(3);
    assertEquals(false, lease.isHeld(3));
    lease.acknowledged(B, 3, now(), THREE);
    assertEquals(false, lease.isHeld(3));
    lease.giveUp(2);
    assertEquals(false, lease.isHeld(3));
    lease.acknowledged(B, 4, now(), THREE);
    assertEquals(true, lease.isHeld(4), "elected again");
  }

  @Test
  void aReleasedFollowerHasItsVoteUntilItHearsTheNextLeader() throws IOException {
    VoteGuard guard = new VoteGuard(DAY, false);
    boolean unused = guard.hear(3, () -> true);
    assertThrows(IOException.class, () -> guard.release(3, () -> false, () -> true));
    assertThrows(IOException.class, guard::checkVote, "the sender does not lead");
    assertEquals("called", guard.release(3, () -> true, () -> "called"));
    guard.checkVote();
    unused = guard.hear(3, () -> true);
    guard.checkVote();
    unused = guard.hear(4, () -> true);
    assertThrows(IOException.class, guard::checkVote);
  }

  @Test
  void aFollowerKeepsItsVoteForAWhile() throws IOException {
    VoteGuard restarted = new VoteGuard(DAY, false);
    assertThrows(IOException.class, restarted::checkVote);
    VoteGuard founder = new VoteGuard(DAY, true);
    founder.checkVote();
    boolean unused = founder.hear(0, () -> true);
    assertThrows(IOException.class, founder::checkVote);
  }

  @Test
  void peerBeingRebuiltHasNoVoteAndFollowsNoOldLeader() throws IOException {
    VoteGuard guard = new VoteGuard(Duration.ZERO, true);
    guard.setRebuilding(7);
    assertThrows(IOException.class, guard::checkVote);
    assertThrows(IOException.class, guard::checkMayVote);
    assertThrows(IOException.class, () -> guard.checkLeader(6));
    guard.checkLeader(7);
    guard.setMember();
    guard.checkVote();
  }
}
