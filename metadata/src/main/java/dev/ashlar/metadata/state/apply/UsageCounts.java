package dev.ashlar.metadata.state.apply;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UsageRow;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts what buckets and accounts hold, from the changes of rows during one log entry. The sums
 * are written once at its end. Rows of a bucket from before usage was counted are part of its sums
 * once {@link #count} has passed them.
 */
public final class UsageCounts implements Overlay.Watcher {
  private final Overlay table;
  private final Catalog catalog;
  private final Map<Long, UsageRow.Builder> buckets = new HashMap<>();
  private final Map<String, UsageRow.Builder> accounts = new HashMap<>();

  /** Buckets that this log entry has deleted. */
  private final Set<Long> ended = new HashSet<>();

  /** What one row adds to the sums. */
  private record Share(long bytes, long objects, long uploadBytes) {
    static final Share NONE = new Share(0, 0, 0);

    static Share of(byte[] key, byte @Nullable [] value) {
      if (value == null) {
        return NONE;
      }
      if (key[0] == 'T') {
        long size = Table.parse(value, PartRow.parser()).getSize();
        return new Share(size, 0, size);
      }
      return new Share(ObjectTable.size(value), 1, 0);
    }

    Share minus(Share other) {
      return new Share(
          bytes - other.bytes, objects - other.objects, uploadBytes - other.uploadBytes);
    }

    void addTo(UsageRow.Builder row) {
      row.setBytes(row.getBytes() + bytes)
          .setObjects(row.getObjects() + objects)
          .setUploadBytes(row.getUploadBytes() + uploadBytes);
    }
  }

  public UsageCounts(Overlay table, Catalog catalog) {
    this.table = table;
    this.catalog = catalog;
  }

  @Override
  public boolean watches(byte[] key) {
    return key[0] == 'O' || key[0] == 'H' || key[0] == 'T';
  }

  @Override
  public void changed(byte[] key, byte @Nullable [] before, byte @Nullable [] after) {
    UsageRow.Builder bucket = bucket(Keys.bucketOf(key));
    if (bucket != null && isCounted(bucket, key)) {
      add(bucket, Share.of(key, after).minus(Share.of(key, before)));
    }
  }

  private static boolean isCounted(UsageRow.Builder bucket, byte[] key) {
    return bucket.getComplete()
        || Arrays.compareUnsigned(key, bucket.getCountedTo().toByteArray()) <= 0;
  }

  private void add(UsageRow.Builder bucket, Share share) {
    share.addTo(bucket);
    share.addTo(account(bucket.getOwner()));
  }

  /** Null: the usage of this bucket is not counted yet. */
  private UsageRow.@Nullable Builder bucket(long id) {
    UsageRow.Builder known = buckets.get(id);
    if (known != null || ended.contains(id)) {
      return known;
    }
    UsageRow row = catalog.bucketUsage().get(id);
    if (row == null) {
      return null;
    }
    return buckets.computeIfAbsent(id, absent -> row.toBuilder());
  }

  private UsageRow.Builder account(String owner) {
    return accounts.computeIfAbsent(
        owner,
        name ->
            catalog.accountUsage().getOrDefault(name, UsageRow.getDefaultInstance()).toBuilder());
  }

  /** A bucket is created: everything in it will be counted. */
  public void begin(BucketRow bucket) {
    buckets.put(
        bucket.getId(), UsageRow.newBuilder().setOwner(bucket.getOwner()).setComplete(true));
  }

  /** An empty bucket is deleted. */
  public void end(BucketRow bucket) {
    buckets.remove(bucket.getId());
    ended.add(bucket.getId());
  }

  /**
   * Counts rows of a bucket from before usage was counted.
   *
   * @param max rows to visit
   */
  public void count(BucketRow bucket, int max) {
    UsageRow.Builder row = bucket(bucket.getId());
    if (row == null) {
      row = UsageRow.newBuilder().setOwner(bucket.getOwner());
      buckets.put(bucket.getId(), row);
    }
    int left = max;
    for (char name : new char[] {'H', 'O', 'T'}) { // in the order of keys
      left = count(row, Keys.inBucket(name, bucket.getId()), left);
      if (left == 0) {
        return;
      }
    }
    row.setComplete(true).clearCountedTo();
  }

  /** Counts rows with this prefix, and returns how many more may be visited. */
  private int count(UsageRow.Builder row, byte[] prefix, int max) {
    byte[] end = Keys.behind(prefix);
    byte[] from = prefix;
    if (!row.getCountedTo().isEmpty()) {
      byte[] next = Keys.behind(row.getCountedTo().toByteArray());
      from = Arrays.compareUnsigned(next, from) > 0 ? next : from;
    }
    if (row.getComplete() || Arrays.compareUnsigned(from, end) >= 0) {
      return max;
    }
    int left = max;
    try (Table.Cursor cursor = table.cursor(from, end)) {
      for (; cursor.isValid() && left > 0; cursor.next(), left--) {
        add(row, Share.of(cursor.key(), cursor.value()));
        row.setCountedTo(ByteString.copyFrom(cursor.key()));
      }
    }
    return left;
  }

  public void setQuota(String owner, @Nullable Quota quota) {
    UsageRow.Builder account = account(owner);
    if (quota == null) {
      account.clearQuota();
    } else {
      account.setQuota(quota);
    }
  }

  /** Whether a quota limits this bucket or its account. */
  public boolean isLimited(BucketRow bucket) {
    return bucket.hasQuota() || account(bucket.getOwner()).hasQuota();
  }

  /** Refuses a command that would add more than the quotas of the bucket and its account permit. */
  public void requireRoom(BucketRow bucket, long bytes, long objects) {
    UsageRow.Builder row = bucket(bucket.getId());
    if (row != null) {
      requireRoom(bucket.getQuota(), row, bytes, objects);
    }
    UsageRow.Builder account = account(bucket.getOwner());
    requireRoom(account.getQuota(), account, bytes, objects);
  }

  private static void requireRoom(Quota quota, UsageRow.Builder used, long bytes, long objects) {
    require(
        bytes <= 0 || quota.getBytesMax() == 0 || used.getBytes() + bytes <= quota.getBytesMax(),
        ResultCode.QUOTA_EXCEEDED);
    require(
        objects <= 0
            || quota.getObjectsMax() == 0
            || used.getObjects() + objects <= quota.getObjectsMax(),
        ResultCode.QUOTA_EXCEEDED);
  }

  /** Writes the sums that have changed. */
  public void write() {
    for (long id : ended) {
      if (catalog.bucketUsage().remove(id) != null) {
        table.delete(Keys.bucketUsage(id));
      }
    }
    buckets.forEach(
        (id, row) -> write(Keys.bucketUsage(id), catalog.bucketUsage(), id, row.build()));
    accounts.forEach(
        (owner, row) ->
            write(Keys.accountUsage(owner), catalog.accountUsage(), owner, row.build()));
  }

  private <K> void write(byte[] rowKey, Map<K, UsageRow> present, K key, UsageRow row) {
    if (row.equals(UsageRow.getDefaultInstance())) {
      if (present.remove(key) != null) {
        table.delete(rowKey);
      }
    } else if (!row.equals(present.put(key, row))) {
      table.put(rowKey, row.toByteArray());
    }
  }
}
