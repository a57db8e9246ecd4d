package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.PeerDurability;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.IncomingCall;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/** Carries Raft calls between this peer and the peers in other processes. */
public final class PeerNetwork implements Peer.Network {
  /** Beyond this time the follower's drive hangs, and the same entries are sent again. */
  private static final Duration APPEND_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration INSTALL_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration ABSENT_CHECK = Duration.ofMillis(200);
  private static final Duration GOES_BY_IT_SOON = Duration.ofMillis(1);

  private final RaftPeerId self;
  private final PeerConnections others;
  private final List<Endpoint> founders;
  private final ConcurrentMap<RaftPeerId, Endpoint> places = new ConcurrentHashMap<>();
  private final Duration voteTimeout;
  private final LeaderLease lease;
  private final VoteGuard guard;

  /** Followers whose latest answer was that entries are missing. */
  private final ConcurrentMap<RaftPeerId, Gap> gaps = new ConcurrentHashMap<>();

  /** The entries sent begin after an entry that the follower needs. */
  private record Gap(long term, long sent, long needed) {
    Gap(AppendEntriesRequestProto request, AppendEntriesReplyProto reply) {
      this(request.getLeaderTerm(), request.getPreviousLog().getIndex(), reply.getNextIndex());
    }
  }

  private final MembershipChangeOrder changes;
  private final HandOverCalls handOver;
  private volatile @Nullable RaftServer server;
  private volatile @Nullable PeerDurability durability;
  private volatile boolean isCandidate = true;
  private volatile boolean isEnding;
  private volatile Known known = new Known(null, new RaftMembers(Map.of(), Map.of(), -1));
  private @Nullable Supplier<RaftConfiguration> configuration;

  /** The members, and the configuration from which they were computed. */
  private record Known(@Nullable RaftConfiguration configuration, RaftMembers members) {}

  /**
   * @param founders the addresses of the founding peers, by their places
   */
  public PeerNetwork(
      RaftPeerId self,
      PeerConnections others,
      List<Endpoint> founders,
      Duration voteTimeout,
      LeaderLease lease,
      VoteGuard guard) {
    this.self = self;
    this.others = others;
    this.founders = founders;
    this.voteTimeout = voteTimeout;
    this.lease = lease;
    this.guard = guard;
    changes = new MembershipChangeOrder(self);
    handOver = new HandOverCalls(self, others, lease, guard);
  }

  /** Sets the source of the peer's present configuration; called before it starts. */
  public void follow(Supplier<RaftConfiguration> present) {
    configuration = present;
  }

  /** The members according to this peer's log. */
  public RaftMembers members() {
    RaftConfiguration present = Objects.requireNonNull(configuration, "not followed yet").get();
    Known last = known;
    if (last.configuration() == present) {
      return last.members();
    }
    RaftMembers members = RaftMembers.of(present, founders);
    known = new Known(present, members);
    return members;
  }

  @Override
  public void add(Collection<RaftPeer> peers) {
    for (RaftPeer peer : peers) {
      places.put(peer.getId(), RaftMembers.endpoint(peer, founders));
    }
    others.add(places.values());
  }

  @Override
  public void set(RaftPeerId peer, PeerDurability what) {
    durability = what;
  }

  private PeerDurability durability() {
    return Objects.requireNonNull(durability, "no peer yet");
  }

  @Override
  public void join(RaftServer newServer) {
    server = newServer;
  }

  @Override
  public void leave(RaftServer left) {
    server = null;
  }

  /** Peers of builds that do not report their condition may have stopped, and do not count. */
  @Override
  public boolean canAnotherLead(RaftPeerId peer, long committed) throws InterruptedException {
    RaftMembers members = members();
    List<PeerStanding> voters =
        others.standings().values().stream().filter(PeerNetwork::isVoter).toList();
    boolean isThereOne =
        voters.stream()
            .filter(other -> other.getCondition() == PeerStanding.Condition.WHOLE)
            .filter(other -> other.getCommitted() >= committed)
            .anyMatch(other -> members.peers().containsKey(idOf(other)));
    Set<RaftPeerId> ids = voters.stream().map(PeerNetwork::idOf).collect(Collectors.toSet());
    return isThereOne && members.isMajority(id -> id.equals(peer) || ids.contains(id));
  }

  /** The peer that can take leadership over now; empty if there is none. */
  public Optional<RaftPeerId> successor() throws InterruptedException {
    return handOver.successor(members());
  }

  /** Fails when the successor refuses. */
  public CompletableFuture<RaftClientReply> refusedHandOver() {
    return handOver.refused();
  }

  static boolean isVoter(PeerStanding other) {
    return other.getState() == PeerStanding.State.MEMBER
        && !other.getPeer().isEmpty()
        && (other.getCondition() == PeerStanding.Condition.WHOLE
            || other.getCondition() == PeerStanding.Condition.DAMAGED);
  }

  static RaftPeerId idOf(PeerStanding other) {
    return RaftPeerId.valueOf(other.getPeer());
  }

  @Override
  public void setCandidate(RaftPeerId peer, boolean may) {
    isCandidate = may;
  }

  /** From now on this peer votes, but does not become leader. */
  public void setEnding() {
    isEnding = true;
  }

  public boolean isEnding() {
    return isEnding;
  }

  public void setMember() {
    guard.setMember();
  }

  // ---- Calls to other peers ----

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    if (!isCandidate) {
      throw new IOException("this peer's tables cannot be rebuilt, and another peer can lead");
    }
    if (isEnding) {
      throw new IOException("this peer is ending");
    }
    guard.checkMayVote();
    durability().syncVote(request);
    CallClient voter = other(request.getServerRequest());
    CallAnswer answer = answer(voter, Method.VOTE, request.toByteArray(), voteTimeout);
    return VoteGuard.counted(RequestVoteReplyProto.parseFrom(done(voter, answer)));
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    CallClient follower = other(request.getServerRequest());
    RaftPeerId id = RaftPeerId.valueOf(request.getServerRequest().getReplyId());
    AppendEntriesRequestProto sent =
        request.getEntriesCount() > 0
            ? changes.awaitTurn(id, request, membersWith(request))
            : request;
    byte[] body = sent.toByteArray();
    long sentNanos;
    CallAnswer answer;
    do {
      awaitConnected(follower);
      sentNanos = System.nanoTime();
      answer = answer(follower, Method.APPEND, body, APPEND_TIMEOUT);
    } while (isAbsent(answer));
    AppendEntriesReplyProto reply = AppendEntriesReplyProto.parseFrom(done(follower, answer));
    changes.answered(id, request.getLeaderTerm(), reply);
    boolean isGap = reply.getResult() == AppendResult.INCONSISTENCY;
    if (isGap || reply.getResult() == AppendResult.SUCCESS) {
      lease.acknowledged(id, request.getLeaderTerm(), sentNanos, members());
    }
    if (!request.getInitializing()) { // a new follower has not lost anything
      checkProgress(id, isGap ? new Gap(request, reply) : null);
    }
    return reply;
  }

  /**
   * Ratis never sends acknowledged entries again, so a follower that has lost them reports the same
   * gap forever. The exception makes Ratis start again with this follower.
   */
  private void checkProgress(RaftPeerId follower, @Nullable Gap gap) {
    if (gap == null) {
      gaps.remove(follower);
    } else if (gap.equals(gaps.put(follower, gap))) {
      gaps.remove(follower);
      throw new IllegalStateException(
          follower + " has forgotten what it acknowledged, from entry " + gap.needed() + " on");
    }
  }

  /** Waits, because a peer may be down for days and each failure would be logged. */
  private static void awaitConnected(CallClient follower) throws InterruptedIOException {
    try {
      while (!follower.isConnected()) {
        boolean unused = follower.awaitConnected(ABSENT_CHECK);
      }
    } catch (InterruptedException e) {
      throw interrupted();
    }
  }

  /** A process whose peer does not take part is treated like one that is down. */
  private static boolean isAbsent(CallAnswer answer) throws InterruptedIOException {
    if (answer.outcome() != Outcome.REFUSED) {
      return false;
    }
    pause(ABSENT_CHECK);
    return true;
  }

  /**
   * The members including those of the request: an entry is in the log a moment before the leader
   * uses it.
   */
  private RaftMembers membersWith(AppendEntriesRequestProto request) throws InterruptedIOException {
    RaftMembers members = members();
    while (MembershipChangeOrder.isAhead(request, members)) {
      pause(GOES_BY_IT_SOON);
      members = members();
    }
    return members;
  }

  private static void pause(Duration time) throws InterruptedIOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw interrupted();
    }
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    CallClient follower = other(request.getServerRequest());
    awaitConnected(follower);
    CallAnswer answer = answer(follower, Method.INSTALL, request.toByteArray(), INSTALL_TIMEOUT);
    return InstallSnapshotReplyProto.parseFrom(done(follower, answer));
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(
      StartLeaderElectionRequestProto request) {
    RaftServer leader = server;
    return leader == null
        ? HandOverCalls.refusal(request.getServerRequest())
        : handOver.start(leader, request);
  }

  private CallClient other(RaftRpcRequestProto request) throws IOException {
    Endpoint place = places.get(RaftPeerId.valueOf(request.getReplyId()));
    if (place == null) {
      throw new IOException("no peer " + request.getReplyId().toStringUtf8());
    }
    return others.client(place);
  }

  private static CallAnswer answer(CallClient peer, Method method, byte[] body, Duration timeout)
      throws IOException {
    try {
      return peer.call(method, body, timeout);
    } catch (InterruptedException e) {
      throw interrupted();
    }
  }

  private static byte[] done(CallClient peer, CallAnswer answer) throws IOException {
    if (answer.outcome() != Outcome.DONE) {
      throw new IOException(peer + " answers " + answer.outcome() + ": " + answer.text());
    }
    return answer.body();
  }

  private static InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted while another peer was called");
  }

  // ---- Calls from other peers ----

  /** Answers VOTE, APPEND, INSTALL, RELEASE and ELECT; blocks during drive writes. */
  public void serve(IncomingCall call) {
    RaftServer present = server;
    if (present == null) {
      call.answer(CallAnswer.because(Outcome.REFUSED, "the peer is not running"));
      return;
    }
    try {
      switch (call.method()) {
        case VOTE -> vote(present, call);
        case APPEND -> append(present, call);
        case INSTALL -> install(present, call);
        case RELEASE, ELECT -> handOver(present, call);
        default -> throw new IllegalArgumentException("not a call of Raft: " + call.method());
      }
    } catch (IOException | RuntimeException e) {
      fail(call, e);
    }
  }

  /**
   * Refuses calls for an earlier peer at this address: answers of this peer must not count as its
   * answers.
   */
  private boolean isForAnother(RaftRpcRequestProto request, IncomingCall call) {
    RaftPeerId meant = RaftPeerId.valueOf(request.getReplyId());
    if (meant.equals(self)) {
      return false;
    }
    call.answer(CallAnswer.because(Outcome.REFUSED, "here is " + self + ", not " + meant));
    return true;
  }

  private static void fail(IncomingCall call, Throwable failure) {
    call.answer(CallAnswer.because(Outcome.UNKNOWN, String.valueOf(failure.getMessage())));
  }

  private void vote(RaftServer voter, IncomingCall call) throws IOException {
    RequestVoteRequestProto request = RequestVoteRequestProto.parseFrom(call.body());
    if (isForAnother(request.getServerRequest(), call)) {
      return;
    }
    RequestVoteReplyProto reply = guard.vote(() -> voter.requestVote(request));
    durability().syncVote(request, reply);
    call.answer(CallAnswer.done(reply.toByteArray()));
  }

  private void append(RaftServer follower, IncomingCall call) throws IOException {
    AppendEntriesRequestProto request = AppendEntriesRequestProto.parseFrom(call.body());
    if (isForAnother(request.getServerRequest(), call)) {
      return;
    }
    CompletableFuture<AppendEntriesReplyProto> reply =
        guard.hear(
            request.getLeaderTerm(),
            () -> follower.appendEntriesAsync(MembershipChangeOrder.toVoter(self, request)));
    durability().syncTerm(request.getLeaderTerm());
    var unused =
        durability()
            .synced(request, reply)
            .whenComplete(
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
    if (isForAnother(request.getServerRequest(), call)) {
      return;
    }
    boolean unused = guard.hear(request.getLeaderTerm(), () -> true);
    InstallSnapshotReplyProto reply = durability().install(follower, request);
    call.answer(CallAnswer.done(reply.toByteArray()));
  }

  private void handOver(RaftServer follower, IncomingCall call) throws IOException {
    StartLeaderElectionRequestProto request =
        StartLeaderElectionRequestProto.parseFrom(call.body());
    if (isForAnother(request.getServerRequest(), call)) {
      return;
    }
    if (call.method() == Method.RELEASE) {
      handOver.released(follower, request);
      call.answer(CallAnswer.done(new byte[0]));
    } else if (isCandidate && !isEnding) {
      call.answer(CallAnswer.done(handOver.elect(follower, request).toByteArray()));
    } else {
      call.answer(CallAnswer.because(Outcome.REFUSED, "this peer is damaged or ending"));
    }
  }
}
