package dev.ashlar.metadata.state.apply;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountNameRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The small tables, cached in memory and kept current by apply, because every request reads them.
 * Written by apply, read by any thread. Access keys and identities are not among them: there can be
 * many, so they are read from the tables.
 */
public final class Catalog {
  private final ConcurrentNavigableMap<String, BucketRow> buckets = new ConcurrentSkipListMap<>();
  private final ConcurrentMap<Long, UsageRow> bucketUsage = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, UsageRow> accountUsage = new ConcurrentHashMap<>();

  /** The keys of the canonical ids of deleted accounts. */
  private final Set<ByteString> removedOwners = ConcurrentHashMap.newKeySet();

  private volatile Map<UUID, DriveId> drives = Map.of();

  /** The log positions at which the present incarnations of replaced drives began. */
  private final ConcurrentMap<UUID, Long> replacedAt = new ConcurrentHashMap<>();

  private volatile long lastReplacedAt;

  /** Drives that are out. */
  private final Set<UUID> out = ConcurrentHashMap.newKeySet();

  private volatile @Nullable PlacementMap placement;

  private volatile boolean encrypts;

  private final BlobRowCache writtenBlobs = new BlobRowCache();

  /** Loads the catalog from the tables. */
  public static Catalog load(Table table) {
    Catalog catalog = new Catalog();
    Map<UUID, DriveId> drives = new HashMap<>();
    table.rows('B', BucketRow.parser()).forEach(catalog::put);
    table.forEach(
        Keys.table('u'), (key, value) -> catalog.bucketUsage.put(Keys.idOf(key), usage(value)));
    table.forEach(
        Keys.table('a'), (key, value) -> catalog.accountUsage.put(Keys.nameOf(key), usage(value)));
    table.forEach(
        IdentityKeys.canonicalIds(), (key, value) -> catalog.setOwner(key, Optional.of(value)));
    table.rows('V', DriveRow.parser()).forEach(drive -> catalog.put(drives, drive));
    table.rows('M', PgMapRow.parser()).forEach(catalog::put);
    catalog.encrypts = table.get(Keys.encryption()) != null;
    catalog.drives = Map.copyOf(drives);
    return catalog;
  }

  /** Resets the catalog to the content of the tables. */
  public void restore(Table table) {
    Catalog there = load(table);
    buckets.keySet().retainAll(there.buckets.keySet());
    buckets.putAll(there.buckets);
    bucketUsage.keySet().retainAll(there.bucketUsage.keySet());
    bucketUsage.putAll(there.bucketUsage);
    accountUsage.keySet().retainAll(there.accountUsage.keySet());
    accountUsage.putAll(there.accountUsage);
    removedOwners.retainAll(there.removedOwners);
    removedOwners.addAll(there.removedOwners);
    replacedAt.keySet().retainAll(there.replacedAt.keySet());
    replacedAt.putAll(there.replacedAt);
    lastReplacedAt = there.lastReplacedAt;
    drives = there.drives;
    out.retainAll(there.out);
    out.addAll(there.out);
    placement = there.placement;
    encrypts = there.encrypts;
  }

  /**
   * Takes over rows that another peer of this process has changed. Of these tables, only those of
   * buckets and of usage lose rows. Rows of canonical ids stay when accounts are deleted.
   */
  public void follow(Changes changes) {
    changes.forEach(
        'B',
        (key, value) ->
            value.ifPresentOrElse(
                row -> put(Table.parse(row, BucketRow.parser())),
                () -> buckets.remove(Keys.nameOf(key))));
    changes.forEach('u', (key, value) -> putUsage(bucketUsage, Keys.idOf(key), value));
    changes.forEach('a', (key, value) -> putUsage(accountUsage, Keys.nameOf(key), value));
    changes.forEach('I', this::setOwner);
    changes.forEach(
        'V',
        (key, value) -> {
          Map<UUID, DriveId> present = new HashMap<>(drives);
          value.ifPresent(row -> put(present, Table.parse(row, DriveRow.parser())));
          drives = Map.copyOf(present);
        });
    changes.forEach(
        'M', (key, value) -> value.ifPresent(row -> put(Table.parse(row, PgMapRow.parser()))));
    changes.forEach('e', (key, value) -> encrypts = value.isPresent());
  }

  private static <K> void putUsage(
      ConcurrentMap<K, UsageRow> usage, K key, Optional<byte[]> value) {
    value.ifPresentOrElse(row -> usage.put(key, usage(row)), () -> usage.remove(key));
  }

  private void setOwner(byte[] key, Optional<byte[]> row) {
    if (!IdentityKeys.isOfCanonicalId(key)) {
      return;
    }
    boolean isRemoved =
        row.map(value -> Table.parse(value, AccountNameRow.parser()).getRemoved()).orElse(false);
    setRemoved(ByteString.copyFrom(key), isRemoved);
  }

  private void setRemoved(ByteString key, boolean isRemoved) {
    if (isRemoved) {
      removedOwners.add(key);
    } else {
      removedOwners.remove(key);
    }
  }

  private static UsageRow usage(byte[] row) {
    return Table.parse(row, UsageRow.parser());
  }

  private void put(BucketRow bucket) {
    buckets.put(bucket.getName(), bucket);
  }

  private void put(Map<UUID, DriveId> present, DriveRow drive) {
    UUID id = DriveId.idOf(drive);
    present.put(id, DriveId.of(drive));
    setReplacedAt(id, drive.getReplacedAt());
    setOut(id, drive.getStanding() == DriveStanding.STANDING_OUT);
  }

  private void put(PgMapRow map) {
    placement = PlacementMap.of(map);
  }

  /** Whether the drive is out. */
  public boolean isOut(UUID drive) {
    return out.contains(drive);
  }

  public void setOut(UUID drive, boolean isOut) {
    if (isOut) {
      out.add(drive);
    } else {
      out.remove(drive);
    }
  }

  public ConcurrentNavigableMap<String, BucketRow> buckets() {
    return buckets;
  }

  /** What buckets hold, by their ids. */
  ConcurrentMap<Long, UsageRow> bucketUsage() {
    return bucketUsage;
  }

  /** What the buckets of each owner hold. */
  ConcurrentMap<String, UsageRow> accountUsage() {
    return accountUsage;
  }

  /** Whether an account with this canonical id was deleted and not created again. */
  public boolean isRemoved(String canonicalId) {
    return removedOwners.contains(ByteString.copyFrom(IdentityKeys.canonicalId(canonicalId)));
  }

  /** An account with this canonical id is created or deleted. */
  public void setRemoved(String canonicalId, boolean isRemoved) {
    setRemoved(ByteString.copyFrom(IdentityKeys.canonicalId(canonicalId)), isRemoved);
  }

  public Map<UUID, DriveId> drives() {
    return drives;
  }

  public void setDrives(Map<UUID, DriveId> present) {
    drives = Map.copyOf(present);
  }

  /** Whether any drive has begun a new incarnation after this position in the log. */
  public boolean wasReplacedBehind(long position) {
    return lastReplacedAt > position;
  }

  /** The log position at which the drive's present incarnation began; 0 if it is the first one. */
  public long replacedAt(UUID drive) {
    return replacedAt.getOrDefault(drive, 0L);
  }

  public void setReplacedAt(UUID drive, long position) {
    if (position > 0) {
      replacedAt.put(drive, position);
      lastReplacedAt = Math.max(lastReplacedAt, position);
    }
  }

  /** Whether an object has ever been encrypted. */
  public boolean encrypts() {
    return encrypts;
  }

  /** An object is encrypted from now on. */
  public void setEncrypts() {
    encrypts = true;
  }

  public BlobRowCache writtenBlobs() {
    return writtenBlobs;
  }

  public @Nullable PlacementMap placement() {
    return placement;
  }

  public void setPlacement(PlacementMap present) {
    placement = present;
  }
}
