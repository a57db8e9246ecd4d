package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.PeerDurability;
import dev.ashlar.metadata.consensus.raft.TableStateMachine;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;

/**
 * Carries Raft calls between the peers of one process, and restricts who takes part in elections.
 */
public final class LocalNetwork implements Peer.Network {
  private final ConcurrentMap<RaftPeerId, Member> members = new ConcurrentHashMap<>();

  private final ConcurrentMap<RaftPeerId, ReentrantLock> appendOrders = new ConcurrentHashMap<>();

  private final ConcurrentMap<RaftPeerId, PeerDurability> durabilities = new ConcurrentHashMap<>();

  /**
   * Peers whose folder was empty. They have lost entries that they acknowledged, so their votes
   * could elect a leader without these. They have no vote until they hold everything committed.
   */
  private final Set<RaftPeerId> forgetful = ConcurrentHashMap.newKeySet();

  /** Peers that do not ask for votes, but give theirs. */
  private final Set<RaftPeerId> noCandidates = ConcurrentHashMap.newKeySet();

  private record Member(RaftServer server, RaftServer.Division division) {}

  @Override
  public RpcType rpc() {
    return new LocalRpc();
  }

  @Override
  public void put(Parameters parameters) {
    parameters.put(LocalRpc.NETWORK, this, LocalNetwork.class);
  }

  @Override
  public void set(RaftPeerId peer, PeerDurability durability) {
    durabilities.put(peer, durability);
  }

  PeerDurability durability(RaftPeerId peer) {
    return Objects.requireNonNull(durabilities.get(peer), "no such peer");
  }

  @Override
  public void join(RaftServer server) throws IOException {
    RaftServer.Division division = server.getDivision(server.getGroupIds().iterator().next());
    members.put(server.getId(), new Member(server, division));
  }

  @Override
  public void leave(RaftServer server) {
    members.remove(server.getId());
  }

  @Override
  public boolean canAnotherLead(RaftPeerId peer, long committed) {
    Member own = members.get(peer);
    List<Member> others =
        members.entrySet().stream()
            .filter(member -> !member.getKey().equals(peer) && !isForgetful(member.getKey()))
            .map(Map.Entry::getValue)
            .filter(member -> member.division().getInfo().isAlive())
            .toList();
    return own != null
        && others.size() + 1 > own.division().getRaftConf().getAllPeers().size() / 2
        && others.stream().anyMatch(member -> isWhole(member, committed));
  }

  private static boolean isWhole(Member member, long committed) {
    return member.division().getStateMachine() instanceof TableStateMachine machine
        && machine.tables().isWhole()
        && member.division().getRaftLog().getLastCommittedIndex() >= committed;
  }

  @Override
  public void setCandidate(RaftPeerId peer, boolean isCandidate) {
    if (isCandidate) {
      noCandidates.remove(peer);
    } else {
      noCandidates.add(peer);
    }
  }

  boolean isCandidate(RaftPeerId id) {
    return !noCandidates.contains(id);
  }

  /** Local peers register themselves. */
  @Override
  public void add(Collection<RaftPeer> peers) {}

  /** Empty if the peer was never started or has stopped. */
  Optional<RaftServer> find(RaftPeerId id) {
    Member member = members.get(id);
    return member != null && member.division().getInfo().isAlive()
        ? Optional.of(member.server())
        : Optional.empty();
  }

  RaftServer peer(RaftPeerId id) throws IOException {
    return find(id).orElseThrow(() -> new IOException("peer " + id + " is not running"));
  }

  /** Held while entries are passed to this peer. */
  ReentrantLock appendOrder(RaftPeerId id) {
    return appendOrders.computeIfAbsent(id, peer -> new ReentrantLock());
  }

  public void setForgetful(RaftPeerId id) {
    forgetful.add(id);
  }

  public void setMember(RaftPeerId id) {
    forgetful.remove(id);
  }

  public boolean isForgetful(RaftPeerId id) {
    return forgetful.contains(id);
  }

  void checkMayVote(RaftPeerId id) throws IOException {
    if (isForgetful(id)) {
      throw new IOException("peer " + id + " is being rebuilt and has no vote");
    }
  }
}
