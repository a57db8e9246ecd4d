package dev.ashlar.metadata.server;

import dev.ashlar.metadata.backup.BackupHeader;
import dev.ashlar.metadata.backup.MetadataBackup;
import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.MetadataFolders;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.identity.Principals;
import dev.ashlar.metadata.state.object.BucketReads;
import dev.ashlar.protocol.client.AccessRead;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.QueryingMetadataClient;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The metadata Raft group of a process that runs all peers, and its client. */
public final class MetadataServer extends QueryingMetadataClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MetadataServer.class);
  private static final int STALLS_MAX = 3;

  private final LocalRaftGroup group;
  private final long session;
  private volatile MetadataReads lastKnown;

  private MetadataServer(LocalRaftGroup group, long session) throws MetadataUnavailableException {
    this.group = group;
    this.session = session;
    this.lastKnown = group.memory();
    group.commands().setSession(session);
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
    LocalRaftGroup group = LocalRaftGroup.open(config, knows);
    try {
      return new MetadataServer(group, register(group));
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
            .commands()
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
    return MetadataFolders.holdMetadata(folders);
  }

  /** How many folders the set has to which any of these folders belongs; 0 if none does. */
  public static int places(List<Path> folders) {
    return MetadataFolders.places(folders);
  }

  public MetadataClient client() {
    return this;
  }

  /** The present state of each folder, in their order. */
  public List<FolderStatus> folders() {
    return group.folders();
  }

  /** Whether an encrypted object was ever written. */
  public boolean encrypts() throws MetadataUnavailableException {
    return group.memory().encrypts();
  }

  /**
   * Takes a checkpoint of every peer, so that the next start has no log to replay.
   *
   * @param wait the longest time to wait
   */
  public void checkpoint(Duration wait) {
    group.checkpoint(wait);
  }

  /**
   * The bytes of a backup with every command answered before.
   *
   * @param cluster whose metadata it is
   */
  public InputStream backup(UUID cluster, Instant now)
      throws MetadataUnavailableException, IOException {
    return MetadataBackup.of(group.export(), cluster, BackupHeader.Form.FOLDERS, now);
  }

  @Override
  public void close() {
    group.close();
  }

  // ---- The client ----

  @Override
  public long session() {
    return session;
  }

  @Override
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    return group.commands().submit(command);
  }

  @Override
  protected MetadataAnswer ask(MetadataQuery.Builder query) throws MetadataUnavailableException {
    MetadataQuery asked = query.build();
    return group.read((reads, snapshot) -> reads.answer(snapshot, asked));
  }

  // ---- Reads that nearly every request needs, without messages ----

  @Override
  public Optional<BucketRow> bucket(String name) throws MetadataUnavailableException {
    return group.memory().bucket(name);
  }

  @Override
  public Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.credential(snapshot, accessKey));
  }

  @Override
  public Optional<ObjectRead> object(String bucket, String key)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.object(snapshot, bucket, key));
  }

  @Override
  public AccessRead bucket(BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException {
    Optional<BucketRow> bucket = group.memory().bucket(config.getBucket());
    if (caller == null && bucket.isPresent() && BucketReads.isKnown(bucket.get(), config)) {
      return new AccessRead(
          BucketConfigAnswer.newBuilder().setBucket(bucket.get()).setUnchanged(true).build(),
          new VersionRead.Nothing(),
          null);
    }
    return group.read(
        (reads, snapshot) ->
            new AccessRead(
                reads.config(snapshot, config),
                new VersionRead.Nothing(),
                caller == null ? null : Principals.answer(snapshot, caller)));
  }

  @Override
  public AccessRead object(KeyQuery key, BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException {
    return group.read(
        (reads, snapshot) ->
            new AccessRead(
                reads.config(snapshot, config),
                reads.version(snapshot, key),
                caller == null ? null : Principals.answer(snapshot, caller)));
  }

  @Override
  public List<BlobRow> blobs(List<BlobId> ids) throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.blobs(snapshot, ids));
  }

  @Override
  public ListPage list(ListQuery query) throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.list(snapshot, query));
  }

  @Override
  public PlacementMap placement() {
    return lastKnown().placement().orElseThrow(() -> new IllegalStateException("no drives yet"));
  }

  @Override
  public Map<UUID, DriveId> drives() {
    return lastKnown().drives();
  }

  /** The present state or, while no peer is up to date, the last known one. */
  private MetadataReads lastKnown() {
    try {
      lastKnown = group.memory();
    } catch (MetadataUnavailableException e) {
      LOG.debug("Placement map is not current: {}", e.getMessage());
    }
    return lastKnown;
  }
}
