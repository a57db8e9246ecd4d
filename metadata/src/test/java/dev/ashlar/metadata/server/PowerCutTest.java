package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.protocol.fault.PowerCutFileSystem;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One peer's folder is on a file system whose power is cut: below Ratis, with nothing changed. */
@Tag("slow")
@Timeout(300)
class PowerCutTest {
  private static final int CUT = 0;
  private static final long BYTES = 512L << 20;

  @TempDir Path root = Path.of("");

  /** Of somebody who has all that this peer has, in a term that is new. */
  private static RequestVoteRequestProto request(LoopbackGroup group, String candidate, long term) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(
            RaftRpcRequestProto.newBuilder()
                .setRequestorId(RaftPeerId.valueOf(candidate).toByteString())
                .setReplyId(RaftPeerId.valueOf("m" + (CUT + 1)).toByteString())
                .setRaftGroupId(
                    RaftGroupIdProto.newBuilder()
                        .setId(RaftGroupId.valueOf(group.cluster).toByteString()))
                .setCallId(term))
        .setCandidateTerm(term)
        .setCandidateLastEntry(TermIndexProto.newBuilder().setTerm(term).setIndex(1 << 20))
        .build();
  }

  /** Asks until it may vote, which it does not shortly after it has heard of a leader. */
  private static boolean isGranted(CallClient peer, RequestVoteRequestProto request)
      throws Exception {
    assertTrue(peer.awaitConnected(Duration.ofSeconds(30)));
    while (true) {
      CallAnswer answer = peer.call(Method.VOTE, request.toByteArray(), Duration.ofSeconds(10));
      if (answer.outcome() == Outcome.DONE) {
        return RequestVoteReplyProto.parseFrom(answer.body()).getServerReply().getSuccess();
      }
      Thread.sleep(20);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aVoteThatWasGivenIsRemembered(PowerCutFileSystem.Kind kind) throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    try (PowerCutFileSystem disk =
            PowerCutFileSystem.create(
                kind, root.resolve("peer" + CUT), root.resolve("images"), BYTES);
        LoopbackGroup group = new LoopbackGroup(root, 3)) {
      group.startAll();
      long term;
      try (RemoteMetadata client = group.client()) {
        BucketLoad.createBucket(client, "a");
        term = group.peer(group.awaitLeader()).status().term() + 10;
      }
      for (int place = 1; place < 3; place++) {
        group.kill(place);
      }
      try (CallClient peer = group.asPeer(CUT)) {
        assertTrue(isGranted(peer, request(group, "m2", term)));
        disk.cut();
      }
      group.kill(CUT);
      disk.remount();
      group.start(CUT);
      try (CallClient peer = group.asPeer(CUT)) {
        assertFalse(isGranted(peer, request(group, "m3", term)), "twice in a term");
        assertTrue(isGranted(peer, request(group, "m3", term + 10)));
      }
      for (int place = 1; place < 3; place++) {
        group.start(place);
      }
      try (RemoteMetadata client = group.client()) {
        BucketLoad.createBucket(client, "b");
        assertEquals(Set.of("a", "b"), BucketLoad.names(client));
      }
      assertNotEquals(
          Files.getFileStore(root),
          Files.getFileStore(group.folder(CUT)),
          "it is that file system");
    }
  }
}
