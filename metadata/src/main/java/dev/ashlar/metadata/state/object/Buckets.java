package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.ResultCode;

/** Creates and deletes buckets. */
public final class Buckets {
  static final int PER_OWNER_MAX = 10_000;

  private Buckets() {}

  public static CommandResult create(ApplyContext context, CreateBucket command) {
    String owner = command.getOwner();
    BucketRow present = context.catalog().buckets().get(command.getName());
    if (present != null) {
      throw new RefusedCommandException(
          present.getOwner().equals(owner)
              ? ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
              : ResultCode.BUCKET_ALREADY_EXISTS);
    }
    long owned =
        context.catalog().buckets().values().stream()
            .filter(b -> b.getOwner().equals(owner))
            .count();
    require(owned < PER_OWNER_MAX, ResultCode.LIMIT_EXCEEDED);
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
  public static CommandResult delete(ApplyContext context, DeleteBucket command) {
    BucketRow bucket = context.bucket(command.getName());
    byte[] objects = Keys.inBucket('O', bucket.getId());
    try (Table.Cursor cursor = context.table().cursor(objects, Keys.behind(objects))) {
      require(!cursor.isValid(), ResultCode.BUCKET_NOT_EMPTY);
    }
    Uploads.removeAll(context, bucket.getId());
    context.table().delete(Keys.bucket(bucket.getName()));
    context.catalog().buckets().remove(bucket.getName());
    return ApplyContext.OK;
  }
}
