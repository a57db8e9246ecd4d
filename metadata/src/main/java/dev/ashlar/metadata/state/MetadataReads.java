package dev.ashlar.metadata.state;

import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.state.blob.DebtLevels;
import dev.ashlar.metadata.state.blob.Debts;
import dev.ashlar.metadata.state.node.Nodes;
import dev.ashlar.metadata.state.object.LargeObjectCache;
import dev.ashlar.metadata.state.object.Listing;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
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
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads of metadata, each from one snapshot of the tables. */
public final class MetadataReads {
  private final Catalog catalog;
  private final LargeObjectCache largeObjects = new LargeObjectCache();

  MetadataReads(Catalog catalog) {
    this.catalog = catalog;
  }

  public Optional<BucketRow> bucket(String name) {
    return Optional.ofNullable(catalog.buckets().get(name));
  }

  public List<BucketRow> buckets() {
    return List.copyOf(catalog.buckets().values());
  }

  public Optional<CredentialRow> credential(String accessKey) {
    return Optional.ofNullable(catalog.credentials().get(accessKey));
  }

  public Optional<PlacementMap> placement() {
    return Optional.ofNullable(catalog.placement());
  }

  public Map<UUID, DriveId> drives() {
    return catalog.drives();
  }

  public Registry registry(Table snapshot) {
    return Nodes.registry(snapshot, catalog.placement());
  }

  /** The placement map and the drives as a message. */
  public ClusterState.Builder cluster() {
    ClusterState.Builder cluster = ClusterState.newBuilder();
    placement().ifPresent(map -> cluster.setPgMap(map.toMessage()));
    catalog.drives().values().forEach(drive -> cluster.addDrives(drive.toMessage()));
    return cluster;
  }

  public Optional<ObjectRead> object(Table snapshot, String bucketName, String key) {
    BucketRow bucket = catalog.buckets().get(bucketName);
    if (bucket == null) {
      return Optional.empty();
    }
    Optional<ObjectRow> row = ObjectTable.row(snapshot, bucket.getId(), key);
    if (row.isEmpty()) {
      return Optional.empty();
    }
    ObjectRecord object = assembled(snapshot, bucket.getId(), key, row.get());
    List<SliceValue> slices = object.getSlicesList();
    List<BlobId> first =
        slices.subList(0, Math.min(slices.size(), ObjectRead.BLOBS_MAX)).stream()
            .map(slice -> BlobId.of(slice.getBlob()))
            .toList();
    return Optional.of(new ObjectRead(object, blobs(snapshot, first)));
  }

  private ObjectRecord assembled(Table snapshot, long bucketId, String key, ObjectRow row) {
    if (row.getChunks() <= 1) {
      return ObjectTable.assemble(snapshot, bucketId, key, row);
    }
    ObjectRecord kept = largeObjects.get(row.getVersion());
    if (kept != null) {
      return kept;
    }
    ObjectRecord object = ObjectTable.assemble(snapshot, bucketId, key, row);
    largeObjects.put(object);
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
    Optional<BlobRow> row = catalog.writtenBlobs().get(snapshot, Keys.blob(id, map.pgCount()));
    BlobId named = row.isPresent() ? null : Debts.blobNamed(snapshot, id);
    return named == null ? row : blob(snapshot, named);
  }

  public Set<BlobId> neededShards(Table snapshot, UUID drive, Collection<BlobId> names) {
    Set<BlobId> known = new HashSet<>();
    for (BlobId name : names) {
      Optional<BlobRow> row = blob(snapshot, name);
      if (row.isPresent() && isNeeded(row.get(), drive, name)) {
        known.add(name);
      }
    }
    return known;
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

  public List<BlobRow> garbage(
      Table snapshot, long unreferencedBeforeMs, @Nullable BlobRow after, int max) {
    byte[] from =
        after == null
            ? Keys.table('G')
            : Keys.behind(Keys.garbage(after.getUnreferencedAtMs(), BlobId.of(after.getId())));
    byte[] to = Keys.garbage(Math.max(0, unreferencedBeforeMs));
    return scan(
        snapshot, from, to, max, cursor -> blob(snapshot, Keys.blobOfGarbage(cursor.key())));
  }

  public List<BlobRow> unfolded(Table snapshot, @Nullable BlobId after, int max) {
    byte[] all = Keys.table('F');
    byte[] from = after == null ? all : Keys.behind(Keys.unfolded(after));
    return scan(
        snapshot,
        from,
        Keys.behind(all),
        max,
        cursor -> blob(snapshot, Keys.blobOfUnfolded(cursor.key())));
  }

  public List<BlobRow> blobsInDebt(Table snapshot, int spare, @Nullable BlobId after, int max) {
    byte[] level = Keys.debt(spare);
    byte[] from = after == null ? level : Keys.behind(Keys.debt(spare, after));
    return scan(
        snapshot,
        from,
        Keys.behind(level),
        max,
        cursor -> blob(snapshot, Keys.blobOfDebt(cursor.key())));
  }

  public List<BlobRow> blobsOfPlacementGroup(
      Table snapshot, int pg, @Nullable BlobId after, int max) {
    PlacementMap map = catalog.placement();
    if (map == null) {
      return List.of();
    }
    byte[] all = Keys.group(pg);
    byte[] from = after == null ? all : Keys.behind(Keys.blob(after, map.pgCount()));
    return scan(
        snapshot,
        from,
        Keys.behind(all),
        max,
        cursor -> Optional.of(Rows.parse(cursor.value(), BlobRow.parser())));
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

  public List<DebtLevel> debts(Table snapshot) {
    return DebtLevels.all(snapshot);
  }

  /** An empty page if the bucket does not exist. */
  public ListPage list(Table snapshot, ListQuery query) {
    BucketRow bucket = catalog.buckets().get(query.bucket());
    return bucket == null
        ? new ListPage(List.of(), false)
        : Listing.objects(snapshot, bucket.getId(), query);
  }

  /** An empty page if the bucket does not exist. */
  public UploadsPage uploads(Table snapshot, UploadsQuery query) {
    BucketRow bucket = catalog.buckets().get(query.bucket());
    return bucket == null
        ? new UploadsPage(List.of(), List.of(), false)
        : Listing.uploads(snapshot, bucket.getId(), query);
  }

  public Optional<UploadRow> upload(
      Table snapshot, String bucketName, String key, String uploadId) {
    return bucket(bucketName)
        .flatMap(
            bucket ->
                Rows.get(snapshot, Keys.upload(bucket.getId(), key, uploadId), UploadRow.parser()));
  }

  public List<PartRow> parts(
      Table snapshot, String bucketName, String key, String uploadId, int after, int max) {
    BucketRow bucket = catalog.buckets().get(bucketName);
    if (bucket == null || after == Integer.MAX_VALUE) {
      return List.of();
    }
    byte[] from = Keys.part(bucket.getId(), key, uploadId, after + 1);
    byte[] to = Keys.part(bucket.getId(), key, uploadId, Integer.MAX_VALUE);
    return scan(
        snapshot,
        from,
        to,
        max,
        cursor -> Optional.of(Rows.parse(cursor.value(), PartRow.parser())));
  }
}
