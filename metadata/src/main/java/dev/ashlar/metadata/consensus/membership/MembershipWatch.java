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
 * Takes note that this peer has come to its group, or has gone from it. Whoever is removed is sent
 * nothing any more, so it has to ask. As the leader it asks what version the others know.
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
   * @param changes while this peer has begun one, others than the present ones are called for it
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
   * Returns when this peer is not in its group any more; false when it has ended before it came to
   * it: Ratis ends who was named in an entry that was taken back.
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
      // What is not committed may never be, and who has the entry then still waits.
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

  /** Without a leader for longer than an election should take it asks whether it is in at all. */
  private boolean isLonely() {
    long now = System.nanoTime();
    if (running.peer().leader().isPresent()) {
      ledNanos = now;
    }
    return now - ledNanos > config.elections().max().toNanos();
  }

  /** Whether the others have gone on without it. */
  private boolean isGoneFrom(RaftMembers members) throws InterruptedException {
    others.add(config.peers()); // which may be of now, where those of the log are long gone
    Collection<PeerStanding> said = others.standings().values();
    said.forEach(other -> others.add(RaftMembers.of(other.getMembers()).endpoints()));
    Optional<RaftMembers> known = PeerAdmission.known(said, id);
    return known.isPresent() && known.get().index() >= members.index() && !known.get().contains(id);
  }
}
