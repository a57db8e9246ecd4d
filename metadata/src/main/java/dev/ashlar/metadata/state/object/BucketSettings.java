package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CountUsage;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetAccountQuota;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.SetBucketStorageClass;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.Versioning;

/** Changes the settings of a bucket: those that apply enforces, and the gateway's documents. */
public final class BucketSettings {
  static final int DOCUMENT_MAX_BYTES = 64 << 10;
  static final int DOCUMENT_KINDS = 32;

  /** The maximum counted by one command. */
  static final int ROWS_COUNTED_MAX = 1_000;

  private BucketSettings() {}

  public static CommandResult setVersioning(ApplyContext context, SetBucketVersioning command) {
    BucketRow bucket = bucket(context, command.getBucket());
    Versioning versioning = command.getVersioning();
    require(
        versioning == Versioning.VERSIONING_ENABLED
            || versioning == Versioning.VERSIONING_SUSPENDED,
        ResultCode.INVALID_COMMAND);
    require(
        versioning == Versioning.VERSIONING_ENABLED || !bucket.getHasLock(),
        ResultCode.INVALID_BUCKET_STATE);
    return write(context, bucket.toBuilder().setVersioning(versioning));
  }

  public static CommandResult setLock(ApplyContext context, SetBucketLock command) {
    BucketRow bucket = bucket(context, command.getBucket());
    require(
        bucket.getVersioning() == Versioning.VERSIONING_ENABLED, ResultCode.INVALID_BUCKET_STATE);
    BucketRow.Builder changed = bucket.toBuilder().setHasLock(true).clearRetention();
    if (command.hasRetention()) {
      require(Locks.isWellFormed(command.getRetention()), ResultCode.INVALID_COMMAND);
      changed.setRetention(command.getRetention());
    }
    return write(context, changed);
  }

  public static CommandResult setQuota(ApplyContext context, SetBucketQuota command) {
    BucketRow.Builder changed = bucket(context, command.getBucket()).toBuilder().clearQuota();
    if (command.hasQuota()) {
      changed.setQuota(command.getQuota());
    }
    return write(context, changed);
  }

  public static CommandResult setStorageClass(ApplyContext context, SetBucketStorageClass command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    String name = command.getStorageClass();
    BucketRow.Builder changed =
        bucket(context, command.getBucket()).toBuilder().setStorageClass(name);
    Profiles.checkClass(context, name);
    return write(context, changed);
  }

  public static CommandResult setAccountQuota(ApplyContext context, SetAccountQuota command) {
    context.requireVersion(MetadataVersion.KEEPS_VERSIONS);
    context.usage().setQuota(command.getOwner(), command.hasQuota() ? command.getQuota() : null);
    return context.written();
  }

  public static CommandResult countUsage(ApplyContext context, CountUsage command) {
    context.usage().count(bucket(context, command.getBucket()), ROWS_COUNTED_MAX);
    return ApplyContext.OK;
  }

  public static CommandResult putDocument(ApplyContext context, PutBucketDocument command) {
    BucketRow bucket = bucket(context, command.getBucket());
    int kind = command.getKind();
    int size = command.getDocument().size();
    require(kind >= 0 && kind < DOCUMENT_KINDS, ResultCode.INVALID_COMMAND);
    require(size <= DOCUMENT_MAX_BYTES, ResultCode.LIMIT_EXCEEDED);
    require(isAsExpected(context, command, bucket), ResultCode.CONDITIONAL_CONFLICT);
    byte[] key = Keys.bucketDocument(bucket.getId(), kind);
    int bit = 1 << kind;
    if (size > 0) {
      context.table().put(key, command.getDocument().toByteArray());
    } else {
      context.table().delete(key);
    }
    int documents = size > 0 ? bucket.getDocuments() | bit : bucket.getDocuments() & ~bit;
    BucketRow.Builder changed = bucket.toBuilder().setDocuments(documents);
    if (command.hasNotifiedEvents()) {
      changed.setNotifiedEvents(command.getNotifiedEvents());
    }
    return write(context, changed);
  }

  private static boolean isAsExpected(
      ApplyContext context, PutBucketDocument command, BucketRow bucket) {
    return context.version() < MetadataVersion.EXPECTS_REVISIONS
        || !command.hasExpectedRevision()
        || command.getExpectedRevision() == bucket.getConfigRevision();
  }

  /** Gives a document to a bucket that is being created. */
  static void addDocument(
      ApplyContext context, BucketRow.Builder created, CreateBucket.Document document) {
    int kind = document.getKind();
    int size = document.getDocument().size();
    require(
        kind >= 0 && kind < DOCUMENT_KINDS && (created.getDocuments() & 1 << kind) == 0 && size > 0,
        ResultCode.INVALID_COMMAND);
    require(size <= DOCUMENT_MAX_BYTES, ResultCode.LIMIT_EXCEEDED);
    context
        .table()
        .put(Keys.bucketDocument(created.getId(), kind), document.getDocument().toByteArray());
    created.setDocuments(created.getDocuments() | 1 << kind);
  }

  /** Removes the documents of a bucket that is deleted. */
  static void removeDocuments(ApplyContext context, BucketRow bucket) {
    for (int kind = 0; kind < DOCUMENT_KINDS; kind++) {
      if ((bucket.getDocuments() & 1 << kind) != 0) {
        context.table().delete(Keys.bucketDocument(bucket.getId(), kind));
      }
    }
  }

  private static BucketRow bucket(ApplyContext context, String name) {
    context.requireVersion(MetadataVersion.KEEPS_VERSIONS);
    return context.bucket(name);
  }

  private static CommandResult write(ApplyContext context, BucketRow.Builder changed) {
    BucketRow bucket = changed.setConfigRevision(context.freshId()).build();
    context.table().put(Keys.bucket(bucket.getName()), bucket.toByteArray());
    context.catalog().buckets().put(bucket.getName(), bucket);
    return context.written();
  }
}
