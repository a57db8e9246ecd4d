package dev.ashlar.metadata.consensus.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MembershipChangeOrderTest {
  private static final long TERM = 3;
  private static final long INDEX = 20;
  private static final RaftPeerId A = RaftPeerId.valueOf("a");
  private static final RaftPeerId B = RaftPeerId.valueOf("b");
  private static final RaftPeerId C = RaftPeerId.valueOf("c");
  private static final RaftPeerId NEW = RaftPeerId.valueOf("new");

  private static final AppendEntriesRequestProto BEGINNING = request(TERM, A, B, C, NEW);

  private final MembershipChangeOrder order = new MembershipChangeOrder(A);

  private static RaftMembers members(List<RaftPeerId> before, RaftPeerId... after) {
    return new RaftMembers(places(List.of(after)), places(before), INDEX);
  }

  private static Map<RaftPeerId, Endpoint> places(List<RaftPeerId> ids) {
    return ids.stream().collect(Collectors.toMap(id -> id, id -> new Endpoint("h", 1)));
  }

  /** That brings an entry of this term, which names these. */
  private static AppendEntriesRequestProto request(long term, RaftPeerId... named) {
    RaftConfigurationProto.Builder entry = RaftConfigurationProto.newBuilder();
    for (RaftPeerId id : named) {
      entry.addPeers(RaftPeerProto.newBuilder().setId(ByteString.copyFromUtf8(id.toString())));
    }
    return AppendEntriesRequestProto.newBuilder()
        .setLeaderTerm(TERM)
        .setInitializing(true)
        .addEntries(LogEntryProto.newBuilder().setTerm(TERM).setIndex(INDEX - 1))
        .addEntries(
            LogEntryProto.newBuilder().setTerm(term).setIndex(INDEX).setConfigurationEntry(entry))
        .build();
  }

  /** Entries without a configuration. */
  private static AppendEntriesRequestProto entries(long first, long last) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder().setLeaderTerm(TERM);
    for (long index = first; index <= last; index++) {
      request.addEntries(LogEntryProto.newBuilder().setTerm(TERM).setIndex(index));
    }
    return request.build();
  }

  private long lastSent(RaftPeerId to, AppendEntriesRequestProto request, RaftMembers members)
      throws IOException {
    return order.awaitTurn(to, request, members).getEntriesList().getLast().getIndex();
  }

  private static AppendEntriesReplyProto got(long index) {
    return AppendEntriesReplyProto.newBuilder()
        .setResult(AppendResult.SUCCESS)
        .setMatchIndex(index)
        .build();
  }

  private Thread sending(RaftPeerId to, RaftMembers members, CountDownLatch sent) {
    return sending(to, BEGINNING, members, sent);
  }

  private Thread sending(
      RaftPeerId to, AppendEntriesRequestProto request, RaftMembers members, CountDownLatch sent) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                order.awaitTurn(to, request, members);
                sent.countDown();
              } catch (IOException e) {
                Thread.currentThread().interrupt(); // the test is over
              }
            });
  }

  private static void awaitWaiting(Thread sender) throws InterruptedException {
    while (sender.getState() != Thread.State.WAITING) {
      Thread.sleep(1);
    }
  }

  @Test
  void newMemberLearnsOfTheChangeFirst() throws Exception {
    RaftMembers adding = members(List.of(A, B, C), A, B, C, NEW);
    order.awaitTurn(NEW, BEGINNING, adding);
    CountDownLatch sent = new CountDownLatch(2);
    awaitWaiting(sending(B, adding, sent));
    awaitWaiting(sending(C, adding, sent));
    order.answered(NEW, TERM - 1, got(INDEX));
    order.answered(NEW, TERM, got(INDEX - 1));
    Thread.sleep(10);
    assertEquals(2, sent.getCount());
    order.answered(NEW, TERM, got(INDEX));
    sent.await();
  }

  /** It could not be elected by an old member that has not received the change. */
  @Test
  void newMemberIsNotAheadOfTheOldOnes() throws Exception {
    RaftMembers adding = members(List.of(A, B, C), A, B, C, NEW);
    AppendEntriesRequestProto more =
        BEGINNING.toBuilder().addAllEntries(entries(INDEX + 1, INDEX + 2).getEntriesList()).build();
    assertEquals(INDEX, lastSent(NEW, more, adding));
    order.answered(NEW, TERM, got(INDEX));
    assertEquals(INDEX + 2, lastSent(B, more, adding));
    CountDownLatch sent = new CountDownLatch(1);
    RaftMembers added = members(List.of(), A, B, C, NEW);
    awaitWaiting(sending(NEW, entries(INDEX + 1, INDEX + 5), added, sent));
    order.answered(B, TERM, got(INDEX + 2));
    sent.await();
    assertEquals(INDEX + 2, lastSent(NEW, entries(INDEX + 1, INDEX + 5), added));
    order.answered(C, TERM, got(INDEX)); // now all old members accept it as a candidate
    assertEquals(INDEX + 5, lastSent(NEW, entries(INDEX + 1, INDEX + 5), added));
  }

  @Test
  void newMemberWaitsForAsManyOldOnesAsEachOfTheirMajoritiesNeeds() throws Exception {
    RaftPeerId d = RaftPeerId.valueOf("d");
    RaftPeerId e = RaftPeerId.valueOf("e");
    RaftMembers adding = members(List.of(A, B, C, d, e), A, B, C, d, e, NEW);
    order.answered(NEW, TERM, got(INDEX));
    order.answered(B, TERM, got(INDEX + 3));
    assertEquals(INDEX, lastSent(NEW, entries(INDEX, INDEX + 5), adding));
    order.answered(C, TERM, got(INDEX + 2));
    assertEquals(INDEX + 2, lastSent(NEW, entries(INDEX, INDEX + 5), adding));
  }

  @Test
  void secondMemberWaitsForNobody() throws Exception {
    assertEquals(INDEX + 1, lastSent(NEW, entries(INDEX, INDEX + 1), members(List.of(A), A, NEW)));
  }

  @Test
  void removedMemberIsNotToldWhileAMajorityRemains() throws Exception {
    RaftMembers removing = members(List.of(A, B, C), A, B);
    order.awaitTurn(B, BEGINNING, removing);
    CountDownLatch sent = new CountDownLatch(1);
    Thread leaving = sending(C, removing, sent);
    order.answered(B, TERM, got(INDEX));
    order.answered(C, TERM, got(INDEX));
    awaitWaiting(leaving);
    leaving.interrupt();
    leaving.join();
    assertEquals(1, sent.getCount());
    order.awaitTurn(B, BEGINNING, members(List.of(A, B), A));
  }

  @Test
  void allElseGoesOutAsItIs() throws Exception {
    RaftMembers adding = members(List.of(A, B, C), A, B, C, NEW);
    order.awaitTurn(B, request(TERM - 1, A), adding);
    order.awaitTurn(B, BEGINNING, new RaftMembers(adding.peers(), adding.before(), INDEX + 1));
    order.awaitTurn(B, BEGINNING, new RaftMembers(adding.peers(), Map.of(), INDEX));
  }

  @Test
  void memberNamedInAnEntryVotesFromThenOn() {
    assertTrue(BEGINNING.getInitializing());
    assertEquals(false, MembershipChangeOrder.toVoter(NEW, BEGINNING).getInitializing());
    assertTrue(MembershipChangeOrder.toVoter(NEW, request(TERM, A, B)).getInitializing());
  }
}
