package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.identity.AccountCommands;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import java.util.List;
import java.util.Optional;

/** Creates and deletes buckets; puts, copies and deletes objects. */
public final class ObjectCommands {
  /** The maximum per object version; a command that would exceed it is refused. */
  static final int SLICES_MAX = 100_000;

  private static final int BUCKETS_PER_OWNER_MAX = 10_000;

  private ObjectCommands() {}

  public static CommandResult createBucket(ApplyContext context, CreateBucket command) {
    String owner = command.getOwner();
    BucketRow present = context.catalog().buckets().get(command.getName());
    if (present != null) {
      throw new RefusedCommandException(
          present.getOwner().equals(owner)
              ? ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
              : ResultCode.BUCKET_ALREADY_EXISTS);
    }
    AccountCommands.requireNotRemoved(context, owner);
    long owned =
        context.catalog().buckets().values().stream()
            .filter(b -> b.getOwner().equals(owner))
            .count();
    require(owned < BUCKETS_PER_OWNER_MAX, ResultCode.LIMIT_EXCEEDED);
    BucketRow bucket =
        BucketRow.newBuilder()
            .setName(command.getName())
            .setId(context.freshId())
            .setOwner(owner)
            .setCreatedAtMs(context.timeMs())
            .setRegion(command.getRegion())
            .build();
    context.table().put(Keys.bucket(bucket.getName()), bucket.toByteArray());
    context.catalog().buckets().put(bucket.getName(), bucket);
    return ApplyContext.OK;
  }

  /** Deletes an empty bucket and aborts its uploads, unless they are too many. */
  public static CommandResult deleteBucket(ApplyContext context, DeleteBucket command) {
    BucketRow bucket = context.bucket(command.getName());
    try (Table.Cursor cursor = context.table().cursor(Keys.inBucket('O', bucket.getId()))) {
      require(!cursor.isValid(), ResultCode.BUCKET_NOT_EMPTY);
    }
    Uploads.removeAll(context, bucket.getId());
    context.table().delete(Keys.bucket(bucket.getName()));
    context.catalog().buckets().remove(bucket.getName());
    return ApplyContext.OK;
  }

  public static CommandResult put(ApplyContext context, PutObject command) {
    BucketRow bucket = context.bucket(command.getBucket());
    checkPrecondition(context, bucket, command.getKey(), command.getPrecondition());
    List<BlobRow> blobs = Blobs.admit(context, command.getBlobsList());
    long length = blobs.stream().mapToLong(BlobRow::getLength).sum();
    require(length == command.getSummary().getSize(), ResultCode.INVALID_COMMAND);
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary())
            .setAttributes(command.getAttributes())
            .addAllSlices(Blobs.insert(context, blobs));
    return replace(context, bucket, command.getKey(), object);
  }

  /** Replaces the object at the key. The references of the slices have already been taken. */
  static CommandResult replace(
      ApplyContext context, BucketRow bucket, String key, ObjectRecord.Builder object) {
    remove(context, bucket, key);
    object.setVersion(context.freshId());
    object.getSummaryBuilder().setLastModifiedMs(context.timeMs());
    ObjectTable.insert(context.table(), bucket.getId(), key, object.build());
    return context.written();
  }

  public static CommandResult copy(ApplyContext context, CopyObject command) {
    BucketRow bucket = context.bucket(command.getBucket());
    ObjectRecord source =
        source(
            context, command.getSourceBucket(), command.getSourceKey(), command.getSourceVersion());
    checkPrecondition(context, bucket, command.getKey(), command.getPrecondition());
    Blobs.take(context, source.getSlicesList());
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary().toBuilder().setSize(source.getSummary().getSize()))
            .setAttributes(command.getAttributes())
            .addAllSlices(source.getSlicesList());
    if (command.getSummary().getPartCount() > 0) {
      object.addAllParts(source.getPartsList());
    }
    return replace(context, bucket, command.getKey(), object);
  }

  /** The source object in the version that the gateway saw; another version is a conflict. */
  static ObjectRecord source(ApplyContext context, String bucketName, String key, long version) {
    BucketRow bucket = context.bucket(bucketName);
    ObjectRecord source =
        require(ObjectTable.read(context.table(), bucket.getId(), key), ResultCode.NO_SUCH_KEY);
    require(version == 0 || version == source.getVersion(), ResultCode.CONDITIONAL_CONFLICT);
    return source;
  }

  public static CommandResult delete(ApplyContext context, DeleteObjects command) {
    BucketRow bucket = context.bucket(command.getBucket());
    if (command.hasPrecondition()) {
      require(command.getKeysCount() == 1, ResultCode.INVALID_COMMAND);
      checkPrecondition(context, bucket, command.getKeys(0), command.getPrecondition());
    }
    CommandResult.Builder result = CommandResult.newBuilder();
    for (String key : command.getKeysList()) {
      if (remove(context, bucket, key)) {
        result.addDeletedKeys(key);
      }
    }
    return result.build();
  }

  private static boolean remove(ApplyContext context, BucketRow bucket, String key) {
    Optional<ObjectRow> row = ObjectTable.row(context.table(), bucket.getId(), key);
    if (row.isEmpty()) {
      return false;
    }
    List<SliceValue> slices =
        row.get().getChunks() == 0 && row.get().hasSlice()
            ? List.of(row.get().getSlice())
            : ObjectTable.read(context.table(), bucket.getId(), key)
                .map(ObjectRecord::getSlicesList)
                .orElse(List.of());
    Blobs.drop(context, slices);
    ObjectTable.remove(context.table(), bucket.getId(), key, row.get());
    return true;
  }

  static void checkPrecondition(
      ApplyContext context, BucketRow bucket, String key, Precondition condition) {
    if (condition.equals(Precondition.getDefaultInstance())) {
      return;
    }
    Optional<ObjectRow> present = ObjectTable.row(context.table(), bucket.getId(), key);
    String wanted = condition.getIfMatch();
    require(wanted.isEmpty() || present.isPresent(), ResultCode.NO_SUCH_KEY);
    require(wanted.isEmpty() || matches(wanted, present), ResultCode.PRECONDITION_FAILED);
    String unwanted = condition.getIfNoneMatch();
    require(unwanted.isEmpty() || !matches(unwanted, present), ResultCode.PRECONDITION_FAILED);
    long version = condition.getIfVersion();
    require(
        version == 0 || (present.isPresent() && present.get().getVersion() == version),
        ResultCode.PRECONDITION_FAILED);
  }

  private static boolean matches(String etag, Optional<ObjectRow> present) {
    return present.isPresent()
        && (etag.equals("*") || etag.equals(present.get().getSummary().getEtag()));
  }
}
