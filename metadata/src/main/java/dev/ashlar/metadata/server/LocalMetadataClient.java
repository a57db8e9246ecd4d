package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client of a metadata Raft group whose peers are in this process. */
final class LocalMetadataClient implements MetadataClient {
  private static final Logger log = LoggerFactory.getLogger(LocalMetadataClient.class);

  private final LocalRaftGroup group;
  private final long session;
  private volatile MetadataReads lastKnown;

  LocalMetadataClient(LocalRaftGroup group, long session) throws MetadataUnavailableException {
    this.group = group;
    this.session = session;
    this.lastKnown = group.memory();
  }

  @Override
  public long session() {
    return session;
  }

  @Override
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    return group.submit(command);
  }

  @Override
  public Optional<BucketRow> bucket(String name) throws MetadataUnavailableException {
    return group.memory().bucket(name);
  }

  @Override
  public List<BucketRow> buckets() throws MetadataUnavailableException {
    return group.memory().buckets();
  }

  @Override
  public Optional<ObjectRead> object(String bucket, String key)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.object(snapshot, bucket, key));
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
  public Optional<UploadRow> upload(String bucket, String key, String uploadId)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.upload(snapshot, bucket, key, uploadId));
  }

  @Override
  public UploadsPage uploads(UploadsQuery query) throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.uploads(snapshot, query));
  }

  @Override
  public List<PartRow> parts(String bucket, String key, String uploadId, int after, int max)
      throws MetadataUnavailableException {
    return group.read(
        (reads, snapshot) -> reads.parts(snapshot, bucket, key, uploadId, after, max));
  }

  @Override
  public Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException {
    return group.memory().credential(accessKey);
  }

  @Override
  public PlacementMap placement() {
    return lastKnown().placement().orElseThrow(() -> new IllegalStateException("no drives yet"));
  }

  @Override
  public Map<UUID, DriveId> drives() {
    return lastKnown().drives();
  }

  @Override
  public Registry registry() throws MetadataUnavailableException {
    return group.read(MetadataReads::registry);
  }

  /** The present state or, while no peer is up to date, the last known one. */
  private MetadataReads lastKnown() {
    try {
      lastKnown = group.memory();
    } catch (MetadataUnavailableException e) {
      log.debug("Placement map is not current: {}", e.getMessage());
    }
    return lastKnown;
  }

  @Override
  public List<BlobRow> garbage(long unreferencedBeforeMs, @Nullable BlobRow after, int max)
      throws MetadataUnavailableException {
    return group.read(
        (reads, snapshot) -> reads.garbage(snapshot, unreferencedBeforeMs, after, max));
  }

  @Override
  public List<BlobRow> unfolded(@Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.unfolded(snapshot, after, max));
  }

  @Override
  public Set<BlobId> neededShards(UUID drive, Collection<BlobId> names)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.neededShards(snapshot, drive, names));
  }

  @Override
  public List<BlobRow> blobsInDebt(int spare, @Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.blobsInDebt(snapshot, spare, after, max));
  }

  @Override
  public List<BlobRow> blobsOfPlacementGroup(int pg, @Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    return group.read((reads, snapshot) -> reads.blobsOfPlacementGroup(snapshot, pg, after, max));
  }

  @Override
  public List<DebtLevel> debts() throws MetadataUnavailableException {
    return group.read(MetadataReads::debts);
  }
}
