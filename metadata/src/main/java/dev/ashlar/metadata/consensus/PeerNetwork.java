package dev.ashlar.metadata.consensus;

import dev.ashlar.protocol.wire.Exchange.Method;
import dev.ashlar.protocol.wire.Exchange.Outcome;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.IncomingCall;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/** The way from one peer to those in other processes, and from them to it. */
final class PeerNetwork implements Peer.Network {
  /** Beyond it the other side's disk hangs; the same is sent again. */
  private static final Duration APPEND_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration INSTALL_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration ABSENT_CHECK = Duration.ofMillis(200);

  private final Map<RaftPeerId, CallClient> others;
  private final Duration voteTimeout;
  private final LeaderLease lease;
  private final PeerGuard guard;

  /**
   * Held while the guard is asked and the server does what it allows: between the two no other
   * leader's entries may come, and no vote be given.
   */
  private final ReentrantLock order = new ReentrantLock();

  private volatile @Nullable RaftServer server;

  PeerNetwork(
      Map<RaftPeerId, CallClient> others,
      Duration voteTimeout,
      LeaderLease lease,
      PeerGuard guard) {
    this.others = others;
    this.voteTimeout = voteTimeout;
    this.lease = lease;
    this.guard = guard;
  }

  @Override
  public RpcType rpc() {
    return new NetworkRpc();
  }

  @Override
  public void put(Parameters parameters) {
    parameters.put(NetworkRpc.NETWORK, this, PeerNetwork.class);
  }

  /** Its calls are answered from now on. */
  void join(RaftServer newServer) {
    server = newServer;
  }

  @Override
  public void leave(RaftServer left) {
    server = null;
  }

  void setMember() {
    order.lock();
    try {
      guard.setMember();
    } finally {
      order.unlock();
    }
  }

  // ---- To the others ----

  RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    order.lock();
    try {
      guard.checkMayVote();
    } finally {
      order.unlock();
    }
    CallClient voter = other(request.getServerRequest());
    return RequestVoteReplyProto.parseFrom(
        call(voter, Method.VOTE, request.toByteArray(), voteTimeout));
  }

  AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) throws IOException {
    CallClient follower = other(request.getServerRequest());
    awaitConnected(follower);
    long sentNanos = System.nanoTime();
    AppendEntriesReplyProto reply =
        AppendEntriesReplyProto.parseFrom(
            call(follower, Method.APPEND, request.toByteArray(), APPEND_TIMEOUT));
    if (reply.getResult() == AppendResult.SUCCESS
        || reply.getResult() == AppendResult.INCONSISTENCY) {
      lease.acknowledged(
          RaftPeerId.valueOf(request.getServerRequest().getReplyId()),
          request.getLeaderTerm(),
          sentNanos);
    }
    return reply;
  }

  /** A peer may be away for days: failing each time would fill the log. */
  private static void awaitConnected(CallClient follower) throws InterruptedIOException {
    try {
      while (!follower.isConnected()) {
        boolean unused = follower.awaitConnected(ABSENT_CHECK);
      }
    } catch (InterruptedException e) {
      throw interrupted(follower);
    }
  }

  InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    CallClient follower = other(request.getServerRequest());
    awaitConnected(follower);
    return InstallSnapshotReplyProto.parseFrom(
        call(follower, Method.INSTALL, request.toByteArray(), INSTALL_TIMEOUT));
  }

  private CallClient other(RaftRpcRequestProto request) throws IOException {
    CallClient other = others.get(RaftPeerId.valueOf(request.getReplyId()));
    if (other == null) {
      throw new IOException("no peer " + request.getReplyId().toStringUtf8());
    }
    return other;
  }

  private static byte[] call(CallClient peer, Method method, byte[] body, Duration timeout)
      throws IOException {
    try {
      CallAnswer answer = peer.call(method, body, timeout);
      if (answer.outcome() != Outcome.DONE) {
        throw new IOException(method + " to " + peer + ": " + answer.text());
      }
      return answer.body();
    } catch (InterruptedException e) {
      throw interrupted(peer);
    }
  }

  private static InterruptedIOException interrupted(CallClient peer) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("while " + peer + " was called");
  }

  // ---- From the others ----

  /** Answers VOTE, APPEND and INSTALL; blocks while the disk does. */
  void serve(IncomingCall call) {
    RaftServer present = server;
    if (present == null) {
      call.answer(CallAnswer.because(Outcome.REFUSED, "the peer does not run yet, or any more"));
      return;
    }
    try {
      switch (call.method()) {
        case VOTE -> vote(present, call);
        case APPEND -> append(present, call);
        case INSTALL -> install(present, call);
        default -> throw new IllegalArgumentException("not a call of Raft: " + call.method());
      }
    } catch (IOException | RuntimeException e) {
      fail(call, e);
    }
  }

  private static void fail(IncomingCall call, Throwable failure) {
    call.answer(CallAnswer.because(Outcome.UNKNOWN, String.valueOf(failure.getMessage())));
  }

  private void vote(RaftServer voter, IncomingCall call) throws IOException {
    RequestVoteRequestProto request = RequestVoteRequestProto.parseFrom(call.body());
    RequestVoteReplyProto reply;
    order.lock();
    try {
      guard.checkVote();
      reply = voter.requestVote(request);
    } finally {
      order.unlock();
    }
    call.answer(CallAnswer.done(reply.toByteArray()));
  }

  private void append(RaftServer follower, IncomingCall call) throws IOException {
    AppendEntriesRequestProto request = AppendEntriesRequestProto.parseFrom(call.body());
    CompletableFuture<AppendEntriesReplyProto> reply;
    order.lock();
    try {
      guard.checkLeader(request.getLeaderTerm());
      guard.heard();
      reply = follower.appendEntriesAsync(request);
    } finally {
      order.unlock();
    }
    var unused =
        reply.whenComplete(
            (done, failure) -> {
              if (failure != null) {
                fail(call, failure);
              } else {
                call.answer(CallAnswer.done(done.toByteArray()));
              }
            });
  }

  private void install(RaftServer follower, IncomingCall call) throws IOException {
    InstallSnapshotRequestProto request = InstallSnapshotRequestProto.parseFrom(call.body());
    order.lock();
    try {
      guard.checkLeader(request.getLeaderTerm());
      guard.heard();
    } finally {
      order.unlock();
    }
    call.answer(CallAnswer.done(follower.installSnapshot(request).toByteArray()));
  }
}
