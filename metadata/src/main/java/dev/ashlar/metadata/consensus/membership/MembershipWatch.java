package dev.ashlar.metadata.consensus.membership;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerFolder;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.consensus.network.PeerConnections;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.protocol.message.PeerStanding;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records that this peer was added to its Raft group or removed from it. A removed peer receives no
 * further messages, so it has to ask. On the leader it also drives the agreement on the metadata
 * version.
 */
public final class MembershipWatch {
  private static final Logger LOG = LoggerFactory.getLogger(MembershipWatch.class);
  private static final Duration LOOK = Duration.ofMillis(250);

  private final PeerConfig config;
  private final PeerFolder folder;
  private final PeerConnections others;
  private final RunningPeer running;
  private final RaftPeerId id;
  private final VersionAgreement versions;
  private final MembershipChanges changes;
  private long ledNanos = System.nanoTime();

  /**
   * @param changes a running change needs connections to peers that are not members
   */
  public MembershipWatch(
      PeerConfig config,
      PeerFolder folder,
      PeerConnections others,
      RunningPeer running,
      VersionAgreement versions,
      MembershipChanges changes) {
    this.config = config;
    this.folder = folder;
    this.others = others;
    this.running = running;
    this.id = running.peer().id();
    this.versions = versions;
    this.changes = changes;
  }

  /**
   * Returns true when this peer was removed from its Raft group, and false when it stopped before
   * it was added: Ratis stops a peer whose addition was rolled back.
   */
  public boolean isRemovedAtTheEnd() throws InterruptedException {
    while (!isRemoved()) {
      if (folder.state() == State.JOINING && !running.peer().isAlive()) {
        return false;
      }
      versions.look(running, changes);
      Thread.sleep(LOOK);
    }
    return true;
  }

  private boolean isRemoved() throws InterruptedException {
    RaftMembers members = running.network().members();
    boolean isCommitted = running.peer().committedIndex() >= members.index();
    if (!members.contains(id)) {
      return folder.state() != State.JOINING && isCommitted;
    }
    if (folder.state() == State.JOINING) {
      // An uncommitted addition may be rolled back, so the peer keeps waiting.
      if (isCommitted) {
        joined();
      }
      return false;
    }
    if (isLonely()) {
      return isGoneFrom(members);
    }
    if (isCommitted && !members.isChanging() && !changes.isBusy()) {
      others.retain(members.endpoints());
    }
    return false;
  }

  private void joined() {
    try {
      folder.setState(State.MEMBER);
      LOG.info("The metadata peer in {} has joined the Raft group as {}.", folder.path(), id);
    } catch (IOException e) {
      LOG.warn(
          "The metadata peer in {} has joined the Raft group, but its folder cannot "
              + "record it.",
          folder.path(),
          e);
    }
  }

  /**
   * Without a leader for longer than an election takes, the peer asks whether it still is a member.
   */
  private boolean isLonely() {
    long now = System.nanoTime();
    if (running.peer().leader().isPresent()) {
      ledNanos = now;
    }
    return now - ledNanos > config.elections().max().toNanos();
  }

  /** Whether the other peers have removed it. */
  private boolean isGoneFrom(RaftMembers members) throws InterruptedException {
    others.add(
        config.peers()); // the configured addresses may be current where those in the log are
    // outdated
    Collection<PeerStanding> said = others.standings().values();
    said.forEach(other -> others.add(RaftMembers.of(other.getMembers()).endpoints()));
    Optional<RaftMembers> known = PeerAdmission.known(said, id);
    return known.isPresent() && known.get().index() >= members.index() && !known.get().contains(id);
  }
}
