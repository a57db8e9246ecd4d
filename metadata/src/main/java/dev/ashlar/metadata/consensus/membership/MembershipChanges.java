package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.network.PeerConnections;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.message.PeersChange;
import dev.ashlar.protocol.message.PeersChangeStatus;
import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds and removes peers of the Raft group while this process has the leader, one peer at a time.
 * An added peer receives the log before it can vote.
 */
public final class MembershipChanges {
  static final int PEERS_MAX = 7;

  private static final Logger LOG = LoggerFactory.getLogger(MembershipChanges.class);
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration LOOK = Duration.ofMillis(100);

  private final PeerConnections others;
  private final VersionAgreement versions;

  /** How long a new peer may take to apply what was written while its addition was committed. */
  private final Duration catchUp;

  /** Held while a change is being started, which asks other peers. */
  private final ReentrantLock beginning = new ReentrantLock();

  private PeersChange begun = PeersChange.getDefaultInstance();

  /** Written when a change begins, and by its thread when it ends. */
  private volatile Latest latest = new Latest(PeersChangeStatus.getDefaultInstance(), null);

  public MembershipChanges(PeerConnections others, VersionAgreement versions, Duration catchUp) {
    this.others = others;
    this.versions = versions;
    this.catchUp = catchUp;
  }

  /** The request is invalid, or not possible now; the message gives the reason. */
  public static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String why) {
      super(why);
    }
  }

  /** One peer is added or removed: without an address it is removed. */
  private record Step(RaftPeerId id, @Nullable Endpoint address) {
    Map<RaftPeerId, Endpoint> after(Map<RaftPeerId, Endpoint> peers) {
      Map<RaftPeerId, Endpoint> after = new LinkedHashMap<>(peers);
      if (address == null) {
        after.remove(id);
      } else {
        after.put(id, address);
      }
      return after;
    }
  }

  /** The steps of a change, in order. */
  private record Plan(String what, List<Step> steps, @Nullable Endpoint coming) {}

  /**
   * The latest change.
   *
   * @param coming the address of the peer that it adds
   */
  private record Latest(PeersChangeStatus status, @Nullable Endpoint coming) {}

  /** The latest change; number 0 means none. */
  PeersChangeStatus latest() {
    return latest.status();
  }

  /** The address of the peer that is being added. */
  Optional<Endpoint> coming() {
    Latest now = latest;
    return isRunning(now.status()) ? Optional.ofNullable(now.coming()) : Optional.empty();
  }

  /** Whether a change is in progress or being started. */
  boolean isBusy() {
    return beginning.isLocked() || isRunning(latest());
  }

  private static boolean isRunning(PeersChangeStatus change) {
    return change.getNumber() > 0 && change.getState() == PeersChangeStatus.State.RUNNING;
  }

  /** An action that may be interrupted. */
  interface Interruptible {
    void run() throws InterruptedException;
  }

  /** Runs the action unless a change is in progress; none starts meanwhile. */
  void betweenChanges(Interruptible action) throws InterruptedException {
    if (beginning.tryLock()) {
      try {
        if (!isRunning(latest())) {
          action.run();
        }
      } finally {
        beginning.unlock();
      }
    }
  }

  /**
   * Starts the change in the background and returns its first status.
   *
   * @param running the leader
   */
  public PeersChangeStatus begin(PeersChange change, RunningPeer running)
      throws RefusedException, InterruptedException {
    beginning.lockInterruptibly();
    try {
      if (isRunning(latest())) {
        if (change.equals(begun)) {
          return latest(); // repeated by a caller that got no answer
        }
        throw new RefusedException("another change is in progress: " + latest().getWhat());
      }
      Plan plan = plan(change, running);
      begun = change;
      PeersChangeStatus status =
          PeersChangeStatus.newBuilder()
              .setNumber(latest().getNumber() + 1)
              .setWhat(plan.what())
              .build();
      latest = new Latest(status, plan.coming());
      LOG.info("Metadata Raft group: {} begins.", plan.what());
      Thread.ofVirtual().name("metadata-change").start(() -> end(carryOut(plan, running)));
      return status;
    } finally {
      beginning.unlock();
    }
  }

  private Plan plan(PeersChange change, RunningPeer running)
      throws RefusedException, InterruptedException {
    RaftMembers members = running.network().members();
    if (members.isChanging() || running.peer().committedIndex() < members.index()) {
      throw new RefusedException("another change is in progress");
    }
    RaftPeerId leaving = change.getRemove().isEmpty() ? null : named(change.getRemove(), members);
    int version = versions.toWrite(running.peer());
    Step joining =
        change.getAdd().isEmpty() ? null : joining(change.getAdd(), leaving, members, version);
    Map<Endpoint, PeerStanding> standings = others.standings();
    Set<RaftPeerId> able =
        members.peers().entrySet().stream()
            .filter(peer -> isAble(standings.get(peer.getValue()), peer.getKey()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    able.add(running.peer().id());
    List<Step> steps = steps(joining, leaving, able);
    check(steps, members.peers(), able);
    String leaves = leaving == null ? "" : leaving + " at " + members.peers().get(leaving);
    return new Plan(what(joining, leaves), steps, joining == null ? null : joining.address());
  }

  /**
   * One peer at a time, so that every old majority shares a peer with every new one, on which
   * Ratis' leaders rely. A lost peer is removed before another is added, so that the number of
   * peers never grows beyond what the answering ones can decide; a live peer is removed last, so
   * that as many may fail meanwhile as before.
   */
  private static List<Step> steps(
      @Nullable Step joining, @Nullable RaftPeerId leaving, Set<RaftPeerId> able)
      throws RefusedException {
    List<Step> steps = new ArrayList<>();
    if (joining != null) {
      steps.add(joining);
    }
    if (leaving != null) {
      steps.add(able.contains(leaving) ? steps.size() : 0, new Step(leaving, null));
    }
    if (steps.isEmpty()) {
      throw new RefusedException("no peer to add or remove was given");
    }
    return steps;
  }

  /** The remaining peers that answer now must be a majority. */
  private static void check(
      List<Step> steps, Map<RaftPeerId, Endpoint> peers, Set<RaftPeerId> ableNow)
      throws RefusedException {
    Map<RaftPeerId, Endpoint> before = peers;
    Set<RaftPeerId> able = new HashSet<>(ableNow);
    for (Step step : steps) {
      Map<RaftPeerId, Endpoint> after = step.after(before);
      if (after.isEmpty()) {
        throw new RefusedException("it is the last metadata peer: all metadata would be lost");
      }
      if (after.size() > PEERS_MAX) {
        throw new RefusedException("there are " + before.size() + " peers already");
      }
      boolean isLeaving = step.address() == null;
      if (!isLeaving) {
        able.add(step.id());
      }
      long left = after.keySet().stream().filter(able::contains).count();
      // The removed peer does not count, unless there is no majority without it.
      boolean isDecidedWithout = left > before.size() / 2 || before.size() == 2;
      if (left <= after.size() / 2 || (isLeaving && !isDecidedWithout)) {
        throw new RefusedException(
            String.format(
                "only %d of the %d remaining peers answer, which is no majority: replace those "
                    + "that do not answer first",
                after.size(), left));
      }
      before = after;
    }
  }

  private static String what(@Nullable Step coming, String leaves) {
    if (coming == null) {
      return "removing " + leaves;
    }
    String comes = coming.id() + " at " + coming.address();
    return leaves.isEmpty() ? "adding " + comes : "replacing " + leaves + " by " + comes;
  }

  private static RaftPeerId named(String name, RaftMembers members) throws RefusedException {
    return members.peers().entrySet().stream()
        .filter(
            peer ->
                peer.getKey().toString().equals(name) || peer.getValue().toString().equals(name))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow(
            () ->
                new RefusedException(
                    "there is no metadata peer " + name + " but " + text(members)));
  }

  private static String text(RaftMembers members) {
    return members.peers().entrySet().stream()
        .map(peer -> peer.getKey() + " at " + peer.getValue())
        .collect(Collectors.joining(", "));
  }

  /** Null if it already is a peer and has replaced the leaving one. */
  private @Nullable Step joining(
      String address, @Nullable RaftPeerId leaving, RaftMembers members, int version)
      throws RefusedException, InterruptedException {
    Endpoint endpoint;
    try {
      endpoint = Endpoint.parse(address);
    } catch (IllegalArgumentException e) {
      throw new RefusedException("name the new peer by HOST:PORT, not " + address);
    }
    Optional<RaftPeerId> there = members.at(endpoint);
    if (there.isPresent() && leaving != null && !there.get().equals(leaving)) {
      return null; // repeated after the leader was lost between the two steps
    }
    if (there.isPresent()) {
      throw new RefusedException(endpoint + " is already a peer, " + there.get());
    }
    PeerStanding standing =
        others
            .standing(endpoint, CONNECT)
            .orElseThrow(
                () ->
                    new RefusedException(
                        "no metadata peer answers at "
                            + endpoint
                            + ": start one there with --metadata-join"));
    if (standing.getState() != PeerStanding.State.JOINING || standing.getPeer().isEmpty()) {
      throw new RefusedException(endpoint + " is not waiting to be added: " + account(standing));
    }
    if (MetadataVersion.known(standing.getKnows()) < version) {
      throw new RefusedException(
          String.format(
              "%s supports metadata version %d at most, but the Raft group uses %d: start it "
                  + "with the build of the others",
              endpoint, MetadataVersion.known(standing.getKnows()), version));
    }
    RaftPeerId id = RaftPeerId.valueOf(standing.getPeer());
    if (members.contains(id)) {
      throw new RefusedException(endpoint + " is already a peer, " + id);
    }
    return new Step(id, endpoint);
  }

  private static String account(PeerStanding standing) {
    return switch (standing.getState()) {
      case FORMATTING -> "it was started without --metadata-join, to form a Raft group of its own";
      case JOINING -> "it has not reached a majority of the Raft group yet; see its log";
      case REMOVED -> "it was a peer and was removed; empty its folder first";
      case MEMBER, CUT, REBUILDING -> "it belongs to another Raft group, or belonged to this one";
      case UNRECOGNIZED -> "it runs an incompatible version";
    };
  }

  /** Whether the peer votes. A stopped peer of an older build cannot be recognised. */
  private static boolean isAble(@Nullable PeerStanding standing, RaftPeerId id) {
    return isMember(standing, id)
        && standing != null
        && standing.getCondition() != PeerStanding.Condition.STOPPED;
  }

  private static boolean isMember(@Nullable PeerStanding standing, RaftPeerId id) {
    return standing != null
        && standing.getState() == PeerStanding.State.MEMBER
        && standing.getPeer().equals(id.toString());
  }

  /** Returns the reason of a failure; empty: done. */
  private String carryOut(Plan plan, RunningPeer running) {
    for (Step step : plan.steps()) {
      String why = carryOut(step, running);
      if (!why.isEmpty()) {
        boolean isFirst = step.equals(plan.steps().getFirst());
        return isFirst ? why : why + "; the first of two steps is done, see the list of peers";
      }
    }
    return "";
  }

  private String carryOut(Step step, RunningPeer running) {
    try {
      Map<RaftPeerId, Endpoint> present = running.network().members().peers();
      RaftClientReply done =
          running
              .peer()
              .setPeers(RaftMembers.toRaft(present), RaftMembers.toRaft(step.after(present)))
              .get();
      if (!done.isSuccess()) {
        return String.valueOf(done.getException());
      }
      Endpoint joining = step.address();
      return joining == null || holdsAll(step.id(), joining, running)
          ? ""
          : "the new peer was added but does not receive the log: see its log";
    } catch (ExecutionException e) {
      return String.valueOf(e.getCause());
    } catch (IOException | RuntimeException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  /**
   * Whether the new peer, within {@link #catchUp}, is a member and has applied the entry that added
   * it.
   */
  private boolean holdsAll(RaftPeerId id, Endpoint address, RunningPeer running)
      throws InterruptedException {
    long target = running.network().members().index();
    long end = System.nanoTime() + catchUp.toNanos();
    while (System.nanoTime() - end < 0) {
      Optional<PeerStanding> standing = others.standing(address, LOOK);
      if (standing.isPresent()
          && isMember(standing.get(), id)
          && standing.get().getApplied() >= target) {
        return true;
      }
      Thread.sleep(LOOK);
    }
    return false;
  }

  private void end(String why) {
    PeersChangeStatus.State state =
        why.isEmpty() ? PeersChangeStatus.State.DONE : PeersChangeStatus.State.FAILED;
    PeersChangeStatus ended = latest().toBuilder().setState(state).setWhy(why).build();
    LOG.info("Metadata Raft group: {}: {}.", ended.getWhat(), why.isEmpty() ? "is done" : why);
    latest = new Latest(ended, null);
  }
}
