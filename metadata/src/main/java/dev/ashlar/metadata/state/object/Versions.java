package dev.ashlar.metadata.state.object;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.OlderVersions;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.util.Optional;

/**
 * Finds, replaces and deletes the versions of a key.
 *
 * <p>The present version is the newest one, unless that is a delete marker. It has a table of its
 * own, so reads and listings of present versions do not meet others.
 */
public final class Versions {
  /** S3 knows no rules that keep more. */
  private static final int NEWER_KEPT_MAX = 100;

  private Versions() {}

  /**
   * A version that was found.
   *
   * @param isPresent whether it is the present version of its key
   */
  record Found(ObjectRow row, boolean isPresent) {}

  /** Whether keys of this bucket may have versions other than the present one. */
  public static boolean areKept(BucketRow bucket) {
    return bucket.getVersioning() != Versioning.VERSIONING_OFF;
  }

  /** Whether versions that are written now get ids. */
  static boolean givesIds(BucketRow bucket) {
    return bucket.getVersioning() == Versioning.VERSIONING_ENABLED;
  }

  /** The thin row of a version, which may be a delete marker. */
  public static Optional<ObjectRow> row(
      Table table, BucketRow bucket, String key, VersionRef version) {
    return find(table, bucket, key, version).map(Found::row);
  }

  static Optional<Found> find(Table table, BucketRow bucket, String key, VersionRef version) {
    Optional<ObjectRow> present = ObjectTable.row(table, bucket.getId(), key);
    long number = version.getNumber();
    if (present.isPresent() && isNamed(present.get(), number)) {
      return Optional.of(new Found(present.get(), true));
    }
    if (!areKept(bucket)) {
      return Optional.empty();
    }
    Optional<ObjectRow> older =
        number == 0
            ? OlderVersions.nullVersion(table, bucket.getId(), key)
            : OlderVersions.find(table, bucket.getId(), key, number)
                .filter(ObjectRow::getVersioned);
    return older.map(row -> new Found(row, false));
  }

  private static boolean isNamed(ObjectRow row, long number) {
    return number == 0 ? !row.getVersioned() : row.getVersioned() && row.getVersion() == number;
  }

  /**
   * The thin row of a version by its position in the log, whether or not that is its id. Only in
   * buckets with versioning others than the present one are found.
   */
  static Optional<ObjectRow> written(Table table, BucketRow bucket, String key, long position) {
    Optional<ObjectRow> present =
        ObjectTable.row(table, bucket.getId(), key).filter(row -> row.getVersion() == position);
    return present.isPresent() || !areKept(bucket)
        ? present
        : OlderVersions.find(table, bucket.getId(), key, position)
            .filter(row -> !row.getDeleteMarker());
  }

  /**
   * Refuses a new present version for which quotas leave no room.
   *
   * @param bytes that it adds to what is counted, as long as it replaces nothing
   * @param objects likewise
   */
  static void requireRoom(
      ApplyContext context, BucketRow bucket, String key, long bytes, long objects) {
    if (context.version() < MetadataVersion.KEEPS_VERSIONS || !context.usage().isLimited(bucket)) {
      return;
    }
    Optional<ObjectRow> present = ObjectTable.row(context.table(), bucket.getId(), key);
    Optional<ObjectRow> replaced = replaced(context, bucket, key, present).map(Found::row);
    long freed = replaced.map(row -> row.getSummary().getSize()).orElse(0L);
    context
        .usage()
        .requireRoom(bucket, bytes - freed, replaced.isPresent() ? objects - 1 : objects);
  }

  /** The version that a new present version replaces for good: the null version, or none. */
  private static Optional<Found> replaced(
      ApplyContext context, BucketRow bucket, String key, Optional<ObjectRow> present) {
    if (givesIds(bucket)) {
      return Optional.empty();
    }
    if (present.isPresent() && !present.get().getVersioned()) {
      return Optional.of(new Found(present.get(), true));
    }
    return areKept(bucket)
        ? OlderVersions.nullVersion(context.table(), bucket.getId(), key)
            .map(row -> new Found(row, false))
        : Optional.empty();
  }

  /**
   * Makes room for a new present version. With versioning the one before is kept; where versions
   * get no ids, the null version is not.
   *
   * @return whether the key had a present version
   */
  static boolean replacePresent(ApplyContext context, BucketRow bucket, String key) {
    Optional<ObjectRow> present = ObjectTable.row(context.table(), bucket.getId(), key);
    boolean ages = present.isPresent() && (givesIds(bucket) || present.get().getVersioned());
    replaced(context, bucket, key, present)
        .ifPresent(version -> removeFound(context, bucket, key, version));
    if (ages) {
      ObjectTable.age(context.table(), bucket.getId(), key, present.get());
    }
    return present.isPresent();
  }

  /** Deletes what the key holds now; with versioning, puts a delete marker on top of it. */
  static DeleteResult deletePresent(ApplyContext context, BucketRow bucket, String key) {
    boolean wasPresent = replacePresent(context, bucket, key);
    DeleteResult.Builder result = DeleteResult.newBuilder().setFound(wasPresent);
    if (!areKept(bucket)) {
      return result.build();
    }
    ObjectRow marker =
        ObjectRow.newBuilder()
            .setSummary(ObjectSummary.newBuilder().setLastModifiedMs(context.writtenMs()))
            .setVersion(context.freshId())
            .setVersioned(givesIds(bucket))
            .setDeleteMarker(true)
            .build();
    OlderVersions.put(context.table(), bucket.getId(), key, marker);
    return result
        .setDeleteMarker(true)
        .setVersion(marker.getVersion())
        .setVersioned(marker.getVersioned())
        .build();
  }

  /** Deletes one version for good. If it was the newest, the one before it becomes that. */
  static DeleteResult deleteVersion(ApplyContext context, BucketRow bucket, DeleteTarget target) {
    String key = target.getKey();
    Optional<Found> found = find(context.table(), bucket, key, target.getVersion());
    if (found.isEmpty()) {
      return DeleteResult.getDefaultInstance();
    }
    ObjectRow row = found.get().row();
    if (context.version() >= MetadataVersion.KEEPS_NEWER_VERSIONS) {
      long position = target.getPosition();
      ApplyContext.require(
          position == 0 || position == row.getVersion(), ResultCode.PRECONDITION_FAILED);
      requireNewer(context, bucket, key, found.get(), target.getNewerKept());
    }
    Locks.requireDeletable(context, row, target.getBypassGovernance());
    removeFound(context, bucket, key, found.get());
    if (areKept(bucket) && !hasPresent(context, bucket, key)) {
      OlderVersions.newest(context.table(), bucket.getId(), key)
          .filter(newest -> !newest.getDeleteMarker())
          .ifPresent(newest -> ObjectTable.promote(context.table(), bucket.getId(), key, newest));
    }
    return DeleteResult.newBuilder().setFound(true).setDeleteMarker(row.getDeleteMarker()).build();
  }

  /** Refuses to delete a version unless so many are between it and the newest one. */
  private static void requireNewer(
      ApplyContext context, BucketRow bucket, String key, Found version, int newer) {
    ApplyContext.require(newer >= 0 && newer <= NEWER_KEPT_MAX, ResultCode.INVALID_COMMAND);
    if (newer > 0) {
      ApplyContext.require(
          !version.isPresent() && hasNewer(context, bucket, key, version.row(), newer),
          ResultCode.PRECONDITION_FAILED);
    }
  }

  private static boolean hasNewer(
      ApplyContext context, BucketRow bucket, String key, ObjectRow row, int newer) {
    // A delete marker that is the newest version is among the older ones.
    int left = hasPresent(context, bucket, key) ? newer : newer + 1;
    byte[] from = Keys.olderVersions(bucket.getId(), key);
    byte[] end = Keys.olderVersion(bucket.getId(), key, row.getVersion());
    try (Table.Cursor cursor = context.table().cursor(from, end)) {
      for (; left > 0 && cursor.isValid(); cursor.next()) {
        left--;
      }
    }
    return left == 0;
  }

  private static boolean hasPresent(ApplyContext context, BucketRow bucket, String key) {
    return context.table().get(Keys.object(bucket.getId(), key)) != null;
  }

  private static void removeFound(
      ApplyContext context, BucketRow bucket, String key, Found version) {
    ObjectRow row = version.row();
    if (!row.getDeleteMarker()) {
      Blobs.drop(context, ObjectTable.slices(context.table(), bucket.getId(), key, row));
      ObjectTable.removeParts(context.table(), bucket.getId(), key, row);
    }
    if (version.isPresent()) {
      context.table().delete(Keys.object(bucket.getId(), key));
    } else {
      OlderVersions.remove(context.table(), bucket.getId(), key, row);
    }
  }

  /** The version that a command names, or the present one; no delete marker. */
  static Found require(
      ApplyContext context, BucketRow bucket, String key, Optional<VersionRef> version) {
    if (version.isEmpty()) {
      ObjectRow row =
          ApplyContext.require(
              ObjectTable.row(context.table(), bucket.getId(), key), ResultCode.NO_SUCH_KEY);
      return new Found(row, true);
    }
    Found found =
        ApplyContext.require(
            find(context.table(), bucket, key, version.get()), ResultCode.NO_SUCH_VERSION);
    ApplyContext.require(!found.row().getDeleteMarker(), ResultCode.IS_DELETE_MARKER);
    return found;
  }
}
