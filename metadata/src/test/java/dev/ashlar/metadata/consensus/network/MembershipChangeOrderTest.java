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

  private final MembershipChangeOrder order = new MembershipChangeOrder();

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

  private static AppendEntriesReplyProto got(long index) {
    return AppendEntriesReplyProto.newBuilder()
        .setResult(AppendResult.SUCCESS)
        .setMatchIndex(index)
        .build();
  }

  private Thread sending(RaftPeerId to, RaftMembers members, CountDownLatch sent) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                order.awaitTurn(to, BEGINNING, members);
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
