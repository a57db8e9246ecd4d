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

/** The metadata group of this process and a client of it. */
public final class MetadataServer implements AutoCloseable {
  private static final int STALLS_MAX = 3;

  private final LocalRaftGroup group;
  private final MetadataClient client;

  private MetadataServer(LocalRaftGroup group, MetadataClient client) {
    this.group = group;
    this.client = client;
  }

  /**
   * Starts the peers, waits for a leader and registers a session. Earlier sessions stay alive until
   * the caller ends them, when nobody writes in their name any more.
   *
   * @throws IOException when a folder cannot be used; the message says which and why
   */
  public static MetadataServer open(MetadataConfig config)
      throws IOException, MetadataUnavailableException {
    return open(config, MetadataVersion.KNOWN);
  }

  /**
   * Likewise.
   *
   * @param knows the greatest version of metadata that the peers may apply
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
      return new MetadataServer(group, new GroupClient(group, session));
    } catch (IOException | MetadataUnavailableException | RuntimeException e) {
      group.close();
      throw e;
    }
  }

  /**
   * A command waits for the log before it and for a leader: while the log is being replayed it is
   * asked again, and some more times for an election on a machine that has much else to do.
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

  /** How each folder takes part now, in their order. */
  public List<FolderStatus> folders() {
    return group.folders();
  }

  /**
   * Takes a checkpoint of every peer now, so that the next start has no log to replay.
   *
   * @param wait at most so long
   */
  public void checkpoint(Duration wait) {
    group.checkpoint(wait);
  }

  @Override
  public void close() {
    group.close();
  }
}
