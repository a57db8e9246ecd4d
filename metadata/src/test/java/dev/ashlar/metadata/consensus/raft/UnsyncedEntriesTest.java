package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.metadata.consensus.folder.PeerIds;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A follower whose log is not written for a while. */
@Timeout(60)
class UnsyncedEntriesTest {
  /** Other tests in this process have no peers of these places. */
  private static final int FIRST_PLACE = 50;

  private static final RaftPeerId LEADER = PeerIds.ofFounder(FIRST_PLACE);
  private static final RaftPeerId SLOW = PeerIds.ofFounder(FIRST_PLACE + 2);

  @TempDir Path root = Path.of("");
  private final HeldLog log = new HeldLog(SLOW);
  private final CompletableFuture<AppendEntriesRequestProto> first = new CompletableFuture<>();

  @AfterEach
  void release() {
    log.release();
  }

  private void keepFirst(Object request) {
    if (request instanceof AppendEntriesRequestProto append
        && append.getEntriesCount() > 0
        && append.getServerRequest().getRequestorId().equals(LEADER.toByteString())
        && append.getServerRequest().getReplyId().equals(SLOW.toByteString())) {
      first.complete(append);
    }
  }

  /** Until the peer has the entries that were sent first. */
  private static AppendEntriesReplyProto delivered(
      Peer.Network network, AppendEntriesRequestProto request) throws Exception {
    while (true) {
      AppendEntriesReplyProto reply = network.appendEntries(request);
      if (reply.getResult() != AppendResult.INCONSISTENCY) {
        return reply;
      }
      Thread.sleep(10);
    }
  }

  private void assertAnsweredOnceSynced(UnaryOperator<AppendEntriesRequestProto> next)
      throws Exception {
    try (LocalPeers peers = new LocalPeers(root, FIRST_PLACE, 1, this::keepFirst)) {
      AppendEntriesRequestProto request = next.apply(first.get());
      FutureTask<AppendEntriesReplyProto> answer =
          new FutureTask<>(() -> delivered(peers.network, request));
      Thread.startVirtualThread(answer);
      Thread.sleep(300); // long enough for an answer that does not wait
      assertFalse(answer.isDone());
      log.release();
      assertEquals(AppendResult.SUCCESS, answer.get().getResult());
    }
  }

  /** As a leader does whose first call takes too long. */
  @Test
  void entriesThatAreSentAgainAreAcknowledgedOnceTheyAreSynced() throws Exception {
    assertAnsweredOnceSynced(request -> request);
  }

  /** A leader takes the answer to a heartbeat for an acknowledgement of the entry before it. */
  @Test
  void aHeartbeatIsAnsweredOnceTheEntryBeforeItIsSynced() throws Exception {
    assertAnsweredOnceSynced(
        request -> {
          LogEntryProto last = request.getEntries(request.getEntriesCount() - 1);
          return request.toBuilder()
              .clearEntries()
              .setPreviousLog(
                  TermIndexProto.newBuilder().setTerm(last.getTerm()).setIndex(last.getIndex()))
              .build();
        });
  }
}
