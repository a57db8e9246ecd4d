package dev.ashlar.metadata.state;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.state.blob.Debts;
import dev.ashlar.metadata.state.identity.IdentityReads;
import dev.ashlar.metadata.state.identity.Principals;
import dev.ashlar.metadata.state.node.Nodes;
import dev.ashlar.metadata.state.object.BucketReads;
import dev.ashlar.metadata.state.object.LargeObjectCache;
import dev.ashlar.metadata.state.object.Listing;
import dev.ashlar.metadata.state.object.Outbox;
import dev.ashlar.metadata.state.object.VersionListing;
import dev.ashlar.metadata.state.object.Versions;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.OlderVersions;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.BucketsQuery;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BlobsInDebtQuery;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketListQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.GarbageQuery;
import dev.ashlar.protocol.message.KeyEntry;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.KeysQuery;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.NeededShardsQuery;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PartsQuery;
import dev.ashlar.protocol.message.PlacementGroupQuery;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UnfoldedQuery;
import dev.ashlar.protocol.message.UploadListQuery;
import dev.ashlar.protocol.message.UploadQuery;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionListQuery;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DebtLevels;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/** Reads of metadata, each from one snapshot of the tables. */
public final class MetadataReads {
  /** The most rows of the table of debts that a query looks at. */
  private static final int DEBTS_MAX = 100_000;

  private final Catalog catalog;
  private final LargeObjectCache largeObjects = new LargeObjectCache();

  MetadataReads(Catalog catalog) {
    this.catalog = catalog;
  }

  /** Answers a query from this snapshot. */
  public MetadataAnswer answer(Table snapshot, MetadataQuery query) {
    MetadataAnswer.Builder answer = MetadataAnswer.newBuilder();
    if (query.getGroup() != 0) {
      throw new IllegalArgumentException("a query for metadata group " + query.getGroup());
    }
    switch (query.getKindCase()) {
      case BUCKET -> bucket(query.getBucket()).ifPresent(answer::addBuckets);
      case BUCKETS ->
          answer.addAllBuckets(
              query.hasSomeBuckets() ? buckets(query.getSomeBuckets()) : buckets());
      case CREDENTIAL ->
          credential(snapshot, query.getCredential()).ifPresent(answer::setCredential);
      case OBJECT -> object(snapshot, query.getObject(), answer);
      case VERSIONS -> {
        VersionListQuery asked = query.getVersions();
        bucket(asked.getBucket())
            .map(bucket -> VersionListing.page(snapshot, bucket, asked))
            .ifPresent(
                page -> answer.addAllVersions(page.entries()).setTruncated(page.truncated()));
      }
      case BUCKET_USAGE ->
          bucket(query.getBucketUsage())
              .flatMap(bucket -> BucketReads.usage(snapshot, bucket))
              .ifPresent(answer::setUsage);
      case ACCOUNT_USAGE ->
          BucketReads.accountUsage(snapshot, query.getAccountUsage()).ifPresent(answer::setUsage);
      case EVENTS ->
          answer
              .addAllEvents(Outbox.page(snapshot, query.getEvents()))
              .setOutbox(Outbox.read(snapshot));
      case MOVE_JOBS -> answer.addAllMoveJobs(snapshot.rows('m', MoveJobRow.parser()));
      case DOCUMENTS ->
          bucket(query.getDocuments().getBucket())
              .map(bucket -> BucketReads.documents(snapshot, bucket, query.getDocuments()))
              .ifPresent(answer::addAllDocuments);
      case BLOBS -> answer.addAllBlobs(blobs(snapshot, ids(query.getBlobs().getIdsList())));
      case KEYS -> keys(snapshot, query.getKeys(), answer);
      case UPLOAD -> upload(snapshot, query.getUpload()).ifPresent(answer::addUploads);
      case UPLOADS -> {
        UploadsPage page = uploads(snapshot, query.getUploads());
        answer.addAllUploads(page.uploads()).addAllCommonPrefixes(page.commonPrefixes());
        answer.setTruncated(page.truncated());
      }
      case PARTS -> answer.addAllParts(parts(snapshot, query.getParts()));
      case GARBAGE -> answer.addAllBlobs(garbage(snapshot, query.getGarbage()));
      case UNFOLDED -> answer.addAllBlobs(unfolded(snapshot, query.getUnfolded()));
      case NEEDED_SHARDS -> {
        NeededShardsQuery asked = query.getNeededShards();
        UUID drive = new UUID(asked.getDriveHigh(), asked.getDriveLow());
        neededShards(snapshot, drive, ids(asked.getNamesList()))
            .forEach(name -> answer.addIds(name.toMessage()));
      }
      case REGISTRY -> answer.setRegistry(Nodes.registry(snapshot, catalog.placement()));
      case BLOBS_IN_DEBT -> blobsInDebt(snapshot, query.getBlobsInDebt(), answer);
      case PLACEMENT_GROUP ->
          answer.addAllBlobs(blobsOfPlacementGroup(snapshot, query.getPlacementGroup()));
      case DEBTS -> answer.addAllDebts(Debts.levels(snapshot));
      case IDENTITY -> answer.setIdentity(IdentityReads.answer(snapshot, query.getIdentity()));
      case KIND_NOT_SET -> throw new IllegalArgumentException("a query of an unknown kind");
    }
    if (query.hasCaller()) {
      answer.setCaller(Principals.answer(snapshot, query.getCaller()));
    }
    if (query.hasConfig()) {
      answer.setConfig(config(snapshot, query.getConfig()));
    }
    return answer.build();
  }

  private static List<BlobId> ids(List<BlobIdValue> ids) {
    return ids.stream().map(BlobId::of).toList();
  }

  private void keys(Table snapshot, KeysQuery query, MetadataAnswer.Builder answer) {
    ListPage page =
        list(
            snapshot,
            new ListQuery(
                query.getBucket(),
                query.getPrefix(),
                query.getDelimiter(),
                query.getAfter(),
                query.getMax()));
    for (ListPage.Entry entry : page.entries()) {
      KeyEntry.Builder row = KeyEntry.newBuilder().setName(entry.name());
      if (entry instanceof ListPage.Key key) {
        row.setSummary(key.summary());
      }
      answer.addKeys(row);
    }
    answer.setTruncated(page.truncated());
  }

  public Optional<BucketRow> bucket(String name) {
    return Optional.ofNullable(catalog.buckets().get(name));
  }

  public List<BucketRow> buckets() {
    return List.copyOf(catalog.buckets().values());
  }

  private List<BucketRow> buckets(BucketListQuery some) {
    String prefix = some.getPrefix();
    String after = some.getAfter();
    BucketsQuery query =
        new BucketsQuery(some.getOwner(), prefix, some.getRegion(), after, some.getMax());
    String from = after.compareTo(prefix) < 0 ? prefix : after;
    return catalog.buckets().tailMap(from).values().stream()
        .takeWhile(bucket -> bucket.getName().startsWith(prefix))
        .filter(query::matches)
        .limit(query.max())
        .toList();
  }

  public Optional<CredentialRow> credential(Table snapshot, String accessKey) {
    return Principals.credential(snapshot, accessKey);
  }

  public Optional<PlacementMap> placement() {
    return Optional.ofNullable(catalog.placement());
  }

  /** Whether an encrypted object was ever written. */
  public boolean encrypts() {
    return catalog.encrypts();
  }

  public Map<UUID, DriveId> drives() {
    return catalog.drives();
  }

  /** The placement map and the drives as a message. */
  public ClusterState.Builder cluster() {
    ClusterState.Builder cluster = ClusterState.newBuilder();
    placement().ifPresent(map -> cluster.setPgMap(map.toMessage()));
    catalog.drives().values().forEach(drive -> cluster.addDrives(drive.toMessage()));
    return cluster;
  }

  private void object(Table snapshot, KeyQuery query, MetadataAnswer.Builder answer) {
    switch (version(snapshot, query)) {
      case VersionRead.Content content ->
          answer.setObject(content.read().object()).addAllBlobs(content.read().blobs());
      case VersionRead.DeleteMarker marker -> answer.setMarker(marker.marker());
      case VersionRead.Nothing nothing -> {
        // The answer has neither.
      }
    }
  }

  /** A version of a key. */
  public VersionRead version(Table snapshot, KeyQuery query) {
    BucketRow bucket = catalog.buckets().get(query.getBucket());
    if (bucket == null) {
      return new VersionRead.Nothing();
    }
    String key = query.getKey();
    Optional<ObjectRow> row =
        query.hasVersion()
            ? Versions.row(snapshot, bucket, key, query.getVersion())
            : ObjectTable.row(snapshot, bucket.getId(), key);
    if (row.isEmpty() && query.getMarkers() && Versions.areKept(bucket)) {
      row = OlderVersions.newest(snapshot, bucket.getId(), key);
    }
    if (row.isEmpty()) {
      return new VersionRead.Nothing();
    }
    if (!row.get().getDeleteMarker()) {
      return new VersionRead.Content(read(snapshot, bucket, key, row.get()));
    }
    return new VersionRead.DeleteMarker(
        VersionEntry.newBuilder()
            .setName(key)
            .setVersion(row.get().getVersion())
            .setVersioned(row.get().getVersioned())
            .setLatest(!query.hasVersion())
            .setDeleteMarker(true)
            .setSummary(row.get().getSummary())
            .build());
  }

  /**
   * The configuration of a bucket. Apply changes the catalog before the tables, so only a row from
   * the snapshot is answered together with documents.
   */
  public BucketConfigAnswer config(Table snapshot, BucketConfigQuery query) {
    BucketRow present = catalog.buckets().get(query.getBucket());
    if (present == null) {
      return BucketConfigAnswer.getDefaultInstance();
    }
    if (BucketReads.isKnown(present, query)) {
      return BucketConfigAnswer.newBuilder().setBucket(present).setUnchanged(true).build();
    }
    return BucketReads.config(snapshot, query);
  }

  public Optional<ObjectRead> object(Table snapshot, String bucketName, String key) {
    BucketRow bucket = catalog.buckets().get(bucketName);
    return bucket == null
        ? Optional.empty()
        : ObjectTable.row(snapshot, bucket.getId(), key)
            .map(row -> read(snapshot, bucket, key, row));
  }

  private ObjectRead read(Table snapshot, BucketRow bucket, String key, ObjectRow row) {
    ObjectRecord object = assembled(snapshot, bucket.getId(), key, row);
    List<SliceValue> slices = object.getSlicesList();
    List<BlobId> first = new ArrayList<>(ObjectRead.BLOBS_MAX);
    for (int i = 0; i < slices.size() && i < ObjectRead.BLOBS_MAX; i++) {
      first.add(BlobId.of(slices.get(i).getBlob()));
    }
    return new ObjectRead(object, blobs(snapshot, first));
  }

  private ObjectRecord assembled(Table snapshot, long bucketId, String key, ObjectRow row) {
    if (row.getChunks() <= 1) {
      return ObjectTable.assemble(snapshot, bucketId, key, row);
    }
    ObjectRecord kept = largeObjects.get(row);
    if (kept != null) {
      return ObjectTable.hasFacts(row)
          ? ObjectTable.withFacts(kept.toBuilder(), snapshot, bucketId, key, row).build()
          : kept;
    }
    ObjectRecord object = ObjectTable.assemble(snapshot, bucketId, key, row);
    largeObjects.put(ObjectTable.hasFacts(row) ? ObjectTable.withoutFacts(object) : object);
    return object;
  }

  public List<BlobRow> blobs(Table snapshot, List<BlobId> ids) {
    List<BlobRow> rows = new ArrayList<>(ids.size());
    for (BlobId id : ids) {
      blob(snapshot, id).ifPresent(rows::add);
    }
    return rows;
  }

  private Optional<BlobRow> blob(Table snapshot, BlobId id) {
    PlacementMap map = catalog.placement();
    if (map == null) {
      return Optional.empty(); // no blob can have been committed
    }
    OptionalInt pg = map.group(id);
    Optional<BlobRow> row =
        pg.isEmpty()
            ? Optional.empty()
            : catalog.writtenBlobs().get(snapshot, Keys.blob(pg.getAsInt(), id));
    BlobId named = row.isPresent() ? null : Debts.blobNamed(snapshot, id);
    return named == null ? row : blob(snapshot, named);
  }

  private Set<BlobId> neededShards(Table snapshot, UUID drive, Collection<BlobId> names) {
    Set<BlobId> known = new HashSet<>();
    for (BlobId name : names) {
      Optional<BlobRow> row = blob(snapshot, name);
      boolean isNeeded = row.isEmpty() ? isOfNewerMap(name) : isNeeded(row.get(), drive, name);
      if (isNeeded) {
        known.add(name);
      }
    }
    return known;
  }

  /** Whether the profile of the blob was added after this map: its row cannot be looked up then. */
  private boolean isOfNewerMap(BlobId name) {
    PlacementMap map = catalog.placement();
    return map != null && name.profile() >= map.profiles().size();
  }

  /**
   * Whether this drive has, or may have, the blob's shard with this name: at the shard's location,
   * or in the slot where a shard in debt belongs. True if the map is older than the row and cannot
   * tell.
   */
  private boolean isNeeded(BlobRow row, UUID drive, BlobId name) {
    PlacementMap map = catalog.placement();
    if (map == null || map.epoch() < row.getEpoch()) {
      return true;
    }
    for (int slot = 0; slot < map.profile(row.getPg()).shards(); slot++) {
      boolean isThere =
          map.location(row, slot).equals(drive) || map.drive(row.getPg(), slot).equals(drive);
      if (isThere && ShardId.name(row, slot).equals(name)) {
        return true;
      }
    }
    return false;
  }

  private List<BlobRow> garbage(Table snapshot, GarbageQuery query) {
    BlobRow after = query.getAfter();
    byte[] from =
        query.hasAfter()
            ? Keys.behind(Keys.garbage(after.getUnreferencedAtMs(), BlobId.of(after.getId())))
            : Keys.table('G');
    byte[] to = Keys.garbage(Math.max(0, query.getUnreferencedBeforeMs()));
    return blobs(snapshot, from, to, query.getMax(), Keys::blobOfGarbage);
  }

  private List<BlobRow> unfolded(Table snapshot, UnfoldedQuery query) {
    byte[] all = Keys.table('F');
    byte[] from = query.hasAfter() ? Keys.behind(Keys.unfolded(BlobId.of(query.getAfter()))) : all;
    return blobs(snapshot, from, Keys.behind(all), query.getMax(), Keys::blobOfUnfolded);
  }

  /** Looks at a bounded number of rows: few blobs of the kind may be among many others. */
  private void blobsInDebt(Table snapshot, BlobsInDebtQuery query, MetadataAnswer.Builder answer) {
    PlacementMap map = catalog.placement();
    int spare = query.getSpare();
    byte[] level = Keys.debt(spare);
    byte[] from =
        query.hasAfter() ? Keys.behind(Keys.debt(spare, BlobId.of(query.getAfter()))) : level;
    BlobId last = null;
    int looked = 0;
    try (Table.Cursor cursor = snapshot.cursor(from, Keys.behind(level))) {
      while (cursor.isValid() && answer.getBlobsCount() < query.getMax() && looked < DEBTS_MAX) {
        last = Keys.blobOfDebt(cursor.key());
        looked++;
        if (map != null && DebtLevels.isOfKind(query.getKind(), spare, last, map)) {
          blob(snapshot, last).ifPresent(answer::addBlobs);
        }
        cursor.next();
      }
      if (cursor.isValid() && last != null) {
        answer.setLooked(last.toMessage());
      }
    }
  }

  /** The blobs to which rows of an index refer. */
  private List<BlobRow> blobs(
      Table snapshot, byte[] from, byte[] to, int max, Function<byte[], BlobId> referred) {
    return scan(snapshot, from, to, max, cursor -> blob(snapshot, referred.apply(cursor.key())));
  }

  private List<BlobRow> blobsOfPlacementGroup(Table snapshot, PlacementGroupQuery query) {
    byte[] all = Keys.group(query.getPg());
    byte[] from =
        query.hasAfter() ? Keys.behind(Keys.blob(query.getPg(), BlobId.of(query.getAfter()))) : all;
    return rows(snapshot, from, Keys.behind(all), query.getMax(), BlobRow.parser());
  }

  private static <T extends MessageLite> List<T> rows(
      Table snapshot, byte[] from, byte[] to, int max, Parser<T> parser) {
    return scan(
        snapshot, from, to, max, cursor -> Optional.of(Table.parse(cursor.value(), parser)));
  }

  /** The rows from {@code from} to before {@code to}, at most {@code max}. */
  private static <T> List<T> scan(
      Table snapshot, byte[] from, byte[] to, int max, Function<Table.Cursor, Optional<T>> row) {
    List<T> rows = new ArrayList<>();
    if (Arrays.compareUnsigned(from, to) >= 0) {
      return rows;
    }
    try (Table.Cursor cursor = snapshot.cursor(from, to)) {
      for (; cursor.isValid() && rows.size() < max; cursor.next()) {
        row.apply(cursor).ifPresent(rows::add);
      }
    }
    return rows;
  }

  /** An empty page if the bucket does not exist. */
  public ListPage list(Table snapshot, ListQuery query) {
    BucketRow bucket = catalog.buckets().get(query.bucket());
    return bucket == null
        ? new ListPage(List.of(), false)
        : Listing.objects(snapshot, bucket.getId(), query);
  }

  /** An empty page if the bucket does not exist. */
  private UploadsPage uploads(Table snapshot, UploadListQuery query) {
    BucketRow bucket = catalog.buckets().get(query.getBucket());
    return bucket == null
        ? new UploadsPage(List.of(), List.of(), false)
        : Listing.uploads(snapshot, bucket.getId(), query);
  }

  private Optional<UploadRow> upload(Table snapshot, UploadQuery query) {
    return bucket(query.getBucket())
        .map(bucket -> Keys.upload(bucket.getId(), query.getKey(), query.getUploadId()))
        .flatMap(key -> snapshot.row(key, UploadRow.parser()));
  }

  private List<PartRow> parts(Table snapshot, PartsQuery query) {
    BucketRow bucket = catalog.buckets().get(query.getBucket());
    if (bucket == null || query.getAfter() == Integer.MAX_VALUE) {
      return List.of();
    }
    long id = bucket.getId();
    byte[] from = Keys.part(id, query.getKey(), query.getUploadId(), query.getAfter() + 1);
    byte[] to = Keys.part(id, query.getKey(), query.getUploadId(), Integer.MAX_VALUE);
    return rows(snapshot, from, to, query.getMax(), PartRow.parser());
  }
}
