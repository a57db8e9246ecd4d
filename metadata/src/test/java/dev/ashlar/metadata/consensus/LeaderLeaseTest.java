package dev.ashlar.metadata.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.time.Duration;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

class LeaderLeaseTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final RaftPeerId A = RaftPeerId.valueOf("a");
  private static final RaftPeerId B = RaftPeerId.valueOf("b");

  private static long now() {
    return System.nanoTime();
  }

  @Test
  void aMajorityHoldsItForItsTerm() {
    LeaderLease lease = new LeaderLease(5, DAY);
    assertEquals(false, lease.isHeld(0));
    lease.acknowledged(A, 3, now());
    lease.acknowledged(A, 3, now());
    assertEquals(false, lease.isHeld(3), "one of four is no majority with the leader");
    lease.acknowledged(B, 2, now());
    assertEquals(false, lease.isHeld(3));
    lease.acknowledged(B, 3, now());
    assertEquals(true, lease.isHeld(3));
    assertEquals(false, lease.isHeld(4));
    lease.acknowledged(A, 2, now());
    assertEquals(true, lease.isHeld(3), "late answers of the term before");
  }

  @Test
  void itCountsFromWhenTheLastOfTheMajorityWasAsked() {
    LeaderLease lease = new LeaderLease(5, DAY);
    lease.acknowledged(A, 1, now());
    lease.acknowledged(B, 1, now() - DAY.toNanos());
    assertEquals(false, lease.isHeld(1));
    LeaderLease ofThree = new LeaderLease(3, DAY);
    ofThree.acknowledged(A, 1, now() - DAY.toNanos());
    assertEquals(false, ofThree.isHeld(1));
    ofThree.acknowledged(B, 1, now());
    assertEquals(true, ofThree.isHeld(1));
    ofThree.acknowledged(A, 1, now() - DAY.toNanos());
    assertEquals(true, ofThree.isHeld(1), "a late answer takes nothing away");
  }

  @Test
  void aLeaderWithoutFollowersNeedsNone() {
    assertEquals(true, new LeaderLease(1, DAY).isHeld(1));
  }

  @Test
  void aFollowerKeepsItsVoteForAWhile() throws IOException {
    PeerGuard restarted = new PeerGuard(DAY, false);
    assertThrows(IOException.class, restarted::checkVote);
    PeerGuard founder = new PeerGuard(DAY, true);
    founder.checkVote();
    founder.heard();
    assertThrows(IOException.class, founder::checkVote);
  }

  @Test
  void whoeverIsRebuiltHasNoVoteAndFollowsNobodyFromThePast() throws IOException {
    PeerGuard guard = new PeerGuard(Duration.ZERO, true);
    guard.setRebuilding(7);
    assertThrows(IOException.class, guard::checkVote);
    assertThrows(IOException.class, guard::checkMayVote);
    assertThrows(IOException.class, () -> guard.checkLeader(6));
    guard.checkLeader(7);
    guard.setMember();
    guard.checkVote();
  }
}
