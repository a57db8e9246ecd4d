package dev.ashlar.metadata.state;

import static dev.ashlar.metadata.state.Step.require;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.ResultCode;

/** Creating and deleting buckets. */
final class Buckets {
  static final int PER_OWNER_MAX = 10_000;

  private Buckets() {}

  static CommandResult create(Step step, CreateBucket command) {
    String owner = command.getOwner();
    BucketRow present = step.catalog().buckets().get(command.getName());
    if (present != null) {
      throw new Refusal(
          present.getOwner().equals(owner)
              ? ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
              : ResultCode.BUCKET_ALREADY_EXISTS);
    }
    long owned =
        step.catalog().buckets().values().stream().filter(b -> b.getOwner().equals(owner)).count();
    require(owned < PER_OWNER_MAX, ResultCode.LIMIT_EXCEEDED);
    BucketRow bucket =
        BucketRow.newBuilder()
            .setName(command.getName())
            .setId(step.freshId())
            .setOwner(owner)
            .setCreatedAtMs(step.timeMs())
            .setRegion(command.getRegion())
            .build();
    step.table().put(Keys.bucket(bucket.getName()), bucket.toByteArray());
    step.catalog().buckets().put(bucket.getName(), bucket);
    return Step.OK;
  }

  /** Uploads in progress do not keep a bucket alive: unless they are too many they go with it. */
  static CommandResult delete(Step step, DeleteBucket command) {
    BucketRow bucket = step.bucket(command.getName());
    byte[] objects = Keys.inBucket('O', bucket.getId());
    try (Table.Cursor cursor = step.table().cursor(objects, Keys.behind(objects))) {
      require(!cursor.isValid(), ResultCode.BUCKET_NOT_EMPTY);
    }
    Uploads.removeAll(step, bucket.getId());
    step.table().delete(Keys.bucket(bucket.getName()));
    step.catalog().buckets().remove(bucket.getName());
    return Step.OK;
  }
}
