package dev.ashlar.protocol.client;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BlobsInDebtQuery;
import dev.ashlar.protocol.message.BlobsQuery;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketDocument;
import dev.ashlar.protocol.message.BucketDocumentsQuery;
import dev.ashlar.protocol.message.BucketListQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.EventsQuery;
import dev.ashlar.protocol.message.GarbageQuery;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityQuery;
import dev.ashlar.protocol.message.KeyEntry;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.KeysQuery;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.NeededShardsQuery;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PartsQuery;
import dev.ashlar.protocol.message.PlacementGroupQuery;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.UnfoldedQuery;
import dev.ashlar.protocol.message.UploadListQuery;
import dev.ashlar.protocol.message.UploadQuery;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.message.VersionListQuery;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A metadata client whose reads are messages to whoever has the tables: the leader in another
 * process, or a peer of this one.
 */
public abstract class QueryingMetadataClient implements MetadataClient {
  /** Answers a query from one snapshot that has every command that was answered before. */
  protected abstract MetadataAnswer ask(MetadataQuery.Builder query)
      throws MetadataUnavailableException;

  @Override
  public Registry registry() throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setRegistry(true)).getRegistry();
  }

  @Override
  public Optional<BucketRow> bucket(String name) throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setBucket(name)).getBucketsList().stream().findFirst();
  }

  @Override
  public AccessRead bucket(BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException {
    return access(MetadataQuery.newBuilder().setBucket(config.getBucket()), config, caller);
  }

  @Override
  public AccessRead object(KeyQuery key, BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException {
    return access(MetadataQuery.newBuilder().setObject(key), config, caller);
  }

  private AccessRead access(
      MetadataQuery.Builder query, BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException {
    query.setConfig(config);
    if (caller != null) {
      query.setCaller(caller);
    }
    MetadataAnswer answer = ask(query);
    if (answer.hasCaller() != (caller != null)) {
      throw MetadataUnavailableException.refused("the metadata peer's build is older");
    }
    return new AccessRead(
        answer.hasConfig() ? answer.getConfig() : configOfOlder(config),
        found(answer),
        answer.hasCaller() ? answer.getCaller() : null);
  }

  /**
   * The configuration of a bucket from a peer whose build does not know this query, as during an
   * upgrade. Where there are documents, it knows how to read those.
   */
  private BucketConfigAnswer configOfOlder(BucketConfigQuery query)
      throws MetadataUnavailableException {
    Optional<BucketRow> bucket = bucket(query.getBucket());
    if (bucket.isEmpty()) {
      return BucketConfigAnswer.getDefaultInstance();
    }
    BucketConfigAnswer.Builder config = BucketConfigAnswer.newBuilder().setBucket(bucket.get());
    if (bucket.get().getDocuments() != 0) {
      documents(query.getBucket(), query.getKindsList())
          .forEach(
              (kind, document) ->
                  config.addDocuments(
                      BucketDocument.newBuilder().setKind(kind).setDocument(document)));
    }
    return config.build();
  }

  private static VersionRead found(MetadataAnswer answer) {
    if (answer.hasMarker()) {
      return new VersionRead.DeleteMarker(answer.getMarker());
    }
    return answer.hasObject()
        ? new VersionRead.Content(new ObjectRead(answer.getObject(), answer.getBlobsList()))
        : new VersionRead.Nothing();
  }

  @Override
  public IdentityAnswer identity(IdentityQuery query) throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setIdentity(query)).getIdentity();
  }

  @Override
  public List<BucketRow> buckets() throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setBuckets(true)).getBucketsList();
  }

  @Override
  public List<BucketRow> buckets(BucketsQuery query) throws MetadataUnavailableException {
    BucketListQuery.Builder some =
        BucketListQuery.newBuilder()
            .setOwner(query.owner())
            .setPrefix(query.prefix())
            .setRegion(query.region())
            .setAfter(query.after())
            .setMax(query.max());
    // A peer of an older build answers with all.
    return ask(MetadataQuery.newBuilder().setBuckets(true).setSomeBuckets(some))
        .getBucketsList()
        .stream()
        .filter(query::matches)
        .limit(query.max())
        .toList();
  }

  @Override
  public Optional<ObjectRead> object(String bucket, String key)
      throws MetadataUnavailableException {
    KeyQuery.Builder query = KeyQuery.newBuilder().setBucket(bucket).setKey(key);
    MetadataAnswer answer = ask(MetadataQuery.newBuilder().setObject(query));
    return answer.hasObject()
        ? Optional.of(new ObjectRead(answer.getObject(), answer.getBlobsList()))
        : Optional.empty();
  }

  @Override
  public VersionRead version(String bucket, String key, @Nullable VersionRef version)
      throws MetadataUnavailableException {
    KeyQuery.Builder query =
        KeyQuery.newBuilder().setBucket(bucket).setKey(key).setMarkers(version == null);
    if (version != null) {
      query.setVersion(version);
    }
    return found(ask(MetadataQuery.newBuilder().setObject(query)));
  }

  @Override
  public Map<Integer, ByteString> documents(String bucket, Collection<Integer> kinds)
      throws MetadataUnavailableException {
    return ask(
            MetadataQuery.newBuilder()
                .setDocuments(
                    BucketDocumentsQuery.newBuilder().setBucket(bucket).addAllKinds(kinds)))
        .getDocumentsList()
        .stream()
        .collect(
            Collectors.toUnmodifiableMap(BucketDocument::getKind, BucketDocument::getDocument));
  }

  @Override
  public Optional<UsageRow> bucketUsage(String bucket) throws MetadataUnavailableException {
    return usage(MetadataQuery.newBuilder().setBucketUsage(bucket));
  }

  @Override
  public Optional<UsageRow> accountUsage(String owner) throws MetadataUnavailableException {
    return usage(MetadataQuery.newBuilder().setAccountUsage(owner));
  }

  @Override
  public EventsPage events(@Nullable EventRow after, int max) throws MetadataUnavailableException {
    EventsQuery.Builder query = EventsQuery.newBuilder().setMax(max);
    if (after != null) {
      query.setAfterPosition(after.getPosition()).setAfterNumber(after.getNumber());
    }
    MetadataAnswer answer = ask(MetadataQuery.newBuilder().setEvents(query));
    return new EventsPage(answer.getEventsList(), answer.getOutbox());
  }

  @Override
  public List<MoveJobRow> moveJobs() throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setMoveJobs(true)).getMoveJobsList();
  }

  private Optional<UsageRow> usage(MetadataQuery.Builder query)
      throws MetadataUnavailableException {
    MetadataAnswer answer = ask(query);
    return answer.hasUsage() ? Optional.of(answer.getUsage()) : Optional.empty();
  }

  @Override
  public List<BlobRow> blobs(List<BlobId> ids) throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setBlobs(query(ids))).getBlobsList();
  }

  private static BlobsQuery query(Collection<BlobId> ids) {
    return BlobsQuery.newBuilder().addAllIds(ids.stream().map(BlobId::toMessage).toList()).build();
  }

  @Override
  public ListPage list(ListQuery query) throws MetadataUnavailableException {
    MetadataAnswer answer =
        ask(
            MetadataQuery.newBuilder()
                .setKeys(
                    KeysQuery.newBuilder()
                        .setBucket(query.bucket())
                        .setPrefix(query.prefix())
                        .setDelimiter(query.delimiter())
                        .setAfter(query.after())
                        .setMax(query.max())));
    return new ListPage(
        answer.getKeysList().stream().map(QueryingMetadataClient::entry).toList(),
        answer.getTruncated());
  }

  @Override
  public VersionsPage versions(VersionsQuery query) throws MetadataUnavailableException {
    VersionListQuery.Builder asked =
        VersionListQuery.newBuilder()
            .setBucket(query.bucket())
            .setPrefix(query.prefix())
            .setDelimiter(query.delimiter())
            .setKeyMarker(query.keyMarker())
            .setMax(query.max());
    VersionRef marker = query.versionMarker();
    if (marker != null) {
      asked.setVersionMarker(marker);
    }
    MetadataAnswer answer = ask(MetadataQuery.newBuilder().setVersions(asked));
    return new VersionsPage(answer.getVersionsList(), answer.getTruncated());
  }

  private static ListPage.Entry entry(KeyEntry row) {
    return row.hasSummary()
        ? new ListPage.Key(row.getName(), row.getSummary())
        : new ListPage.CommonPrefix(row.getName());
  }

  @Override
  public Optional<UploadRow> upload(String bucket, String key, String uploadId)
      throws MetadataUnavailableException {
    return ask(
            MetadataQuery.newBuilder()
                .setUpload(
                    UploadQuery.newBuilder().setBucket(bucket).setKey(key).setUploadId(uploadId)))
        .getUploadsList()
        .stream()
        .findFirst();
  }

  @Override
  public UploadsPage uploads(UploadsQuery query) throws MetadataUnavailableException {
    MetadataAnswer answer =
        ask(
            MetadataQuery.newBuilder()
                .setUploads(
                    UploadListQuery.newBuilder()
                        .setBucket(query.bucket())
                        .setPrefix(query.prefix())
                        .setDelimiter(query.delimiter())
                        .setKeyMarker(query.keyMarker())
                        .setUploadIdMarker(query.uploadIdMarker())
                        .setMax(query.max())));
    return new UploadsPage(
        answer.getUploadsList(), answer.getCommonPrefixesList(), answer.getTruncated());
  }

  @Override
  public List<PartRow> parts(String bucket, String key, String uploadId, int after, int max)
      throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder()
            .setParts(
                PartsQuery.newBuilder()
                    .setBucket(bucket)
                    .setKey(key)
                    .setUploadId(uploadId)
                    .setAfter(after)
                    .setMax(max)))
        .getPartsList();
  }

  @Override
  public Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException {
    MetadataAnswer answer = ask(MetadataQuery.newBuilder().setCredential(accessKey));
    return answer.hasCredential() ? Optional.of(answer.getCredential()) : Optional.empty();
  }

  @Override
  public List<BlobRow> garbage(long unreferencedBeforeMs, @Nullable BlobRow after, int max)
      throws MetadataUnavailableException {
    GarbageQuery.Builder query =
        GarbageQuery.newBuilder().setUnreferencedBeforeMs(unreferencedBeforeMs).setMax(max);
    if (after != null) {
      query.setAfter(after);
    }
    return ask(MetadataQuery.newBuilder().setGarbage(query)).getBlobsList();
  }

  @Override
  public List<BlobRow> unfolded(@Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    UnfoldedQuery.Builder query = UnfoldedQuery.newBuilder().setMax(max);
    if (after != null) {
      query.setAfter(after.toMessage());
    }
    return ask(MetadataQuery.newBuilder().setUnfolded(query)).getBlobsList();
  }

  @Override
  public Set<BlobId> neededShards(UUID drive, Collection<BlobId> names)
      throws MetadataUnavailableException {
    NeededShardsQuery.Builder query =
        NeededShardsQuery.newBuilder()
            .setDriveHigh(drive.getMostSignificantBits())
            .setDriveLow(drive.getLeastSignificantBits())
            .addAllNames(names.stream().map(BlobId::toMessage).toList());
    return ask(MetadataQuery.newBuilder().setNeededShards(query)).getIdsList().stream()
        .map(BlobId::of)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public List<BlobRow> blobsInDebt(int spare, @Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    return blobsInDebt(DebtKind.DEBT_ANY, spare, after, max).blobs();
  }

  /** Builds that know one profile answer with blobs of both kinds, and do not say how far. */
  @Override
  public DebtsPage blobsInDebt(DebtKind kind, int spare, @Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    BlobsInDebtQuery.Builder query =
        BlobsInDebtQuery.newBuilder().setKind(kind).setSpare(spare).setMax(max);
    if (after != null) {
      query.setAfter(after.toMessage());
    }
    MetadataAnswer answer = ask(MetadataQuery.newBuilder().setBlobsInDebt(query));
    List<BlobRow> blobs = answer.getBlobsList();
    if (answer.hasLooked()) {
      return new DebtsPage(blobs, BlobId.of(answer.getLooked()));
    }
    return new DebtsPage(blobs, blobs.size() < max ? null : BlobId.of(blobs.getLast().getId()));
  }

  @Override
  public List<BlobRow> blobsOfPlacementGroup(int pg, @Nullable BlobId after, int max)
      throws MetadataUnavailableException {
    PlacementGroupQuery.Builder query = PlacementGroupQuery.newBuilder().setPg(pg).setMax(max);
    if (after != null) {
      query.setAfter(after.toMessage());
    }
    return ask(MetadataQuery.newBuilder().setPlacementGroup(query)).getBlobsList();
  }

  @Override
  public List<DebtLevel> debts() throws MetadataUnavailableException {
    return ask(MetadataQuery.newBuilder().setDebts(true)).getDebtsList();
  }
}
