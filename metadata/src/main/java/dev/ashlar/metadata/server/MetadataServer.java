package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RegisterSession;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The metadata Raft group of a process that runs all peers, and its client. */
public final class MetadataServer implements AutoCloseable {
  private static final int STALLS_MAX = 3;

  private final LocalRaftGroup group;
  private final MetadataClient client;

  private MetadataServer(LocalRaftGroup group, MetadataClient client) {
    this.group = group;
    this.client = client;
  }

  /**
   * Starts the peers, waits for a leader and registers a session. Earlier sessions stay live until
   * the caller ends them, once their processes can no longer write.
   *
   * @throws IOException when a folder cannot be used; the message gives folder and reason
   */
  public static MetadataServer open(MetadataConfig config)
      throws IOException, MetadataUnavailableException {
    return open(config, MetadataVersion.KNOWN);
  }

  /**
   * Likewise.
   *
   * @param knows the latest metadata version that the peers may apply
   */
  static MetadataServer open(MetadataConfig config, int knows)
      throws IOException, MetadataUnavailableException {
    LocalRaftGroup group =
        LocalRaftGroup.open(
            new LocalRaftGroup.Config(
                config.clusterId(),
                config.folders(),
                config.notMounted(),
                config.resources(),
                config.meters(),
                config.checkpoints(),
                config.clock(),
                config.commandTimeout(),
                knows));
    try {
      long session = register(group);
      group.setSession(session);
      return new MetadataServer(group, new LocalMetadataClient(group, session));
    } catch (IOException | MetadataUnavailableException | RuntimeException e) {
      group.close();
      throw e;
    }
  }

  /**
   * Registers a session. The command waits for a leader and for the replay of the log: it is
   * repeated while the replay progresses, and a few more times for an election on a busy machine.
   */
  private static long register(LocalRaftGroup group)
      throws IOException, MetadataUnavailableException {
    int stalls = 0;
    for (long replayed = group.appliedIndices(); ; ) {
      try {
        return group
            .submit(Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()))
            .getSession();
      } catch (MetadataUnavailableException e) {
        if (!group.refusal().isEmpty()) {
          throw new IOException(group.refusal(), e);
        }
        long now = group.appliedIndices();
        stalls = now > replayed ? 0 : stalls + 1;
        if (stalls == STALLS_MAX) {
          throw e;
        }
        replayed = now;
      }
    }
  }

  /**
   * Whether any of these folders belongs to a Raft group that was started before. If none does,
   * {@link #open} forms a new, empty group: wrong where drives already hold data.
   */
  public static boolean holdMetadata(List<Path> folders) {
    return LocalRaftGroup.holdMetadata(folders);
  }

  public MetadataClient client() {
    return client;
  }

  /** The present state of each folder, in their order. */
  public List<FolderStatus> folders() {
    return group.folders();
  }

  /**
   * Takes a checkpoint of every peer, so that the next start has no log to replay.
   *
   * @param wait the longest time to wait
   */
  public void checkpoint(Duration wait) {
    group.checkpoint(wait);
  }

  @Override
  public void close() {
    group.close();
  }
}
