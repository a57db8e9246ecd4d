package dev.ashlar.metadata.consensus.folder;

import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.log.LogMark;
import dev.ashlar.metadata.consensus.log.RaftFiles;
import dev.ashlar.metadata.consensus.log.RaftFiles.LogNotWrittenException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a peer whose Raft group spans several processes. The folder alone does not show
 * whether an empty one belongs to a new group or has lost its content: the peer asks the others.
 */
public final class PeerFolder {
  private static final Logger LOG = LoggerFactory.getLogger(PeerFolder.class);
  private final Path folder;
  private final UUID cluster;
  private volatile FolderIdentity identity;

  private PeerFolder(Path folder, UUID cluster, FolderIdentity identity) {
    this.folder = folder;
    this.cluster = cluster;
    this.identity = identity;
  }

  /**
   * Examines the folder, and formats an empty one.
   *
   * @param place of this peer among the founders, from 0; {@link FolderIdentity#NO_PLACE} of a
   *     joining peer. Valid until the folder belongs to a Raft group
   * @param places the number of founders; 0 for a joining peer
   * @throws IOException when the folder belongs to another peer, or is damaged beyond repair
   */
  public static PeerFolder open(Path folder, UUID cluster, int place, int places)
      throws IOException {
    PrivateFolder.create(folder);
    if (!Files.exists(folder.resolve(FolderIdentity.FILE))) {
      Optional<RestoreMark> restored = RestoreMark.in(folder);
      if (restored.isPresent()) {
        requireRestored(folder, cluster, places);
      } else {
        FolderIdentity.requireEmpty(folder);
      }
      String format = restored.map(RestoreMark::format).orElse(UUID.randomUUID().toString());
      new FolderIdentity(cluster.toString(), place, places, "", State.FORMATTING, format, List.of())
          .write(folder);
    }
    PeerFolder opened = new PeerFolder(folder, cluster, identity(folder));
    opened.requireOwn(place, places);
    opened.mend();
    return opened;
  }

  /** Refuses a folder that was restored for another cluster, or is to join a group. */
  private static void requireRestored(Path folder, UUID cluster, int places) throws IOException {
    if (places == 0) {
      throw new IOException(
          folder + " was restored from a backup: start all its peers without --metadata-join");
    }
    MetadataFolders.requireRestored(folder, cluster);
  }

  private static FolderIdentity identity(Path folder) throws IOException {
    try {
      return FolderIdentity.read(folder);
    } catch (DamagedFileException e) {
      throw damaged(folder, e);
    }
  }

  private static IOException damaged(Path folder, IOException why) {
    return new IOException(
        folder
            + " is damaged: "
            + why.getMessage()
            + ". If a majority of the other peers is intact, empty it to rebuild it from "
            + "them. Never empty the folder of the only peer",
        why);
  }

  private void requireOwn(int place, int places) throws IOException {
    identity.requireCluster(folder, cluster);
    if (identity.format().isEmpty()) {
      throw new IOException(folder + " is one of several folders of one process");
    }
    boolean isElsewhere = identity.place() != place || identity.places() != places;
    if (isElsewhere && state() == State.FORMATTING) {
      throw new IOException(
          String.format(
              "%s was formatted for %s, but this is %s: empty it, or start as before",
              folder, text(identity.place(), identity.places()), text(place, places)));
    }
  }

  private static String text(int place, int places) {
    return place == FolderIdentity.NO_PLACE
        ? "a metadata peer that joins a Raft group"
        : String.format("metadata peer %d of the %d of a new Raft group", place + 1, places);
  }

  private void mend() throws IOException {
    Path storage = MetadataFolders.raftDirectory(folder).resolve(cluster.toString());
    if (state() == State.FORMATTING
        || state() == State.REMOVED
        || (state() == State.REBUILDING && isNew(storage))) {
      return;
    }
    RaftFiles.Found found;
    try {
      found = RaftFiles.mend(folder, storage, this::setCut);
    } catch (LogNotWrittenException e) {
      throw e;
    } catch (IOException e) {
      throw damaged(folder, e);
    }
    switch (found.end()) {
      case WHOLE, CUT -> {}
      case SHORT -> {
        LOG.error("Metadata folder {} is damaged: {}", folder, found.account());
        setState(State.REBUILDING);
      }
      case CONFIRMED -> {
        setState(State.MEMBER);
        new LogMark(folder).useConfirmation(found.last());
      }
    }
  }

  private boolean isNew(Path storage) throws IOException {
    try {
      return RaftFiles.isNew(folder, storage);
    } catch (IOException e) {
      throw new IOException(
          folder + " cannot be read: " + e.getMessage() + ". Check the drive, keep the folder", e);
    }
  }

  private void setCut() throws IOException {
    if (state() == State.MEMBER || state() == State.JOINING) {
      setState(State.CUT);
    }
  }

  public State state() {
    return identity.state();
  }

  /** A random id chosen when the folder was formatted, possibly again after it was emptied. */
  public String format() {
    return identity.format();
  }

  /** The formats of the folders of the founding peers; empty if not known here. */
  public List<String> group() {
    return identity.group();
  }

  /** The id in the Raft group; null for an empty folder without a place. */
  public @Nullable RaftPeerId id() {
    if (!identity.peer().isEmpty()) {
      return RaftPeerId.valueOf(identity.peer());
    }
    return identity.place() == FolderIdentity.NO_PLACE ? null : PeerIds.ofFounder(identity.place());
  }

  public Path path() {
    return folder;
  }

  /** Durable when it returns. */
  public void setState(State state) throws IOException {
    write(identity.peer(), state, identity.group());
  }

  /**
   * Records the peer's id and state. Durable when it returns.
   *
   * @param group the formats of the folders of the founding peers
   */
  public void set(State state, RaftPeerId id, List<String> group) throws IOException {
    int place = identity.place();
    boolean isByPlace = place != FolderIdentity.NO_PLACE && id.equals(PeerIds.ofFounder(place));
    write(isByPlace ? "" : id.toString(), state, group);
  }

  private void write(String peer, State state, List<String> group) throws IOException {
    FolderIdentity present = identity;
    FolderIdentity next =
        new FolderIdentity(
            present.cluster(),
            present.place(),
            present.places(),
            peer,
            state,
            present.format(),
            group);
    next.write(folder);
    identity = next;
  }
}
