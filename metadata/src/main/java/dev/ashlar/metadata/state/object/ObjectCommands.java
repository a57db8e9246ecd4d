package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.identity.AccountCommands;
import dev.ashlar.metadata.state.node.Profiles;
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
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.RenameMark;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.Versioning;
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
    BucketRow.Builder created =
        BucketRow.newBuilder()
            .setName(command.getName())
            .setId(context.freshId())
            .setOwner(owner)
            .setCreatedAtMs(context.writtenMs())
            .setRegion(command.getRegion());
    if (command.getLock() && context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      created.setVersioning(Versioning.VERSIONING_ENABLED).setHasLock(true);
    }
    if (context.version() >= MetadataVersion.CREATES_WITH_DOCUMENTS) {
      for (CreateBucket.Document document : command.getDocumentsList()) {
        BucketSettings.addDocument(context, created, document);
      }
    }
    BucketRow bucket = created.build();
    context.table().put(Keys.bucket(bucket.getName()), bucket.toByteArray());
    context.catalog().buckets().put(bucket.getName(), bucket);
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      context.usage().begin(bucket);
    }
    return ApplyContext.OK;
  }

  /** Deletes an empty bucket and aborts its uploads, unless they are too many. */
  public static CommandResult deleteBucket(ApplyContext context, DeleteBucket command) {
    BucketRow bucket = context.bucket(command.getName());
    requireNone(context, Keys.inBucket('O', bucket.getId()));
    requireNone(context, Keys.inBucket('H', bucket.getId()));
    Uploads.removeAll(context, bucket.getId());
    BucketSettings.removeDocuments(context, bucket);
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      context.usage().end(bucket);
    }
    context.table().delete(Keys.bucket(bucket.getName()));
    context.catalog().buckets().remove(bucket.getName());
    return ApplyContext.OK;
  }

  private static void requireNone(ApplyContext context, byte[] prefix) {
    try (Table.Cursor cursor = context.table().cursor(prefix)) {
      require(!cursor.isValid(), ResultCode.BUCKET_NOT_EMPTY);
    }
  }

  public static CommandResult put(ApplyContext context, PutObject command) {
    BucketRow bucket = context.bucket(command.getBucket());
    Profiles.checkClass(context, command.getSummary().getStorageClass());
    NewVersion version = NewVersion.of(context, bucket, command.getLock(), command.getFacts());
    checkPrecondition(context, bucket, command.getKey(), command.getPrecondition());
    List<BlobRow> blobs = Blobs.admit(context, command.getBlobsList());
    long length = blobs.stream().mapToLong(BlobRow::getLength).sum();
    long size = command.getSummary().getSize();
    long stored = Encryption.storedSize(context, command.getFacts(), size);
    require(length == stored, ResultCode.INVALID_COMMAND);
    Versions.requireRoom(context, bucket, command.getKey(), size, 1);
    Encryption.begin(context, command.getFacts());
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary())
            .setAttributes(command.getAttributes())
            .addAllSlices(Blobs.insert(context, blobs));
    boolean isCopy = command.getCopied() && context.version() >= MetadataVersion.ADDS_PROFILES;
    return replace(
        context,
        bucket,
        command.getKey(),
        version.applyTo(object),
        isCopy ? EventRow.Kind.CREATED_BY_COPY : EventRow.Kind.CREATED_BY_PUT);
  }

  /**
   * Makes this the present version of the key. The references of the slices have already been
   * taken.
   */
  static CommandResult replace(
      ApplyContext context,
      BucketRow bucket,
      String key,
      ObjectRecord.Builder object,
      EventRow.Kind kind) {
    Versions.replacePresent(context, bucket, key);
    object.setVersion(context.freshId()).setVersioned(Versions.givesIds(bucket));
    object.getSummaryBuilder().setLastModifiedMs(context.writtenMs());
    ObjectTable.insert(
        context.table(), bucket.getId(), key, object.build(), Versions.areKept(bucket));
    EventRow.Builder event =
        EventRow.newBuilder()
            .setKind(kind)
            .setKey(key)
            .setVersion(object.getVersion())
            .setVersioned(object.getVersioned())
            .setSize(object.getSummary().getSize())
            .setEtag(object.getSummary().getEtag());
    Outbox.add(context, bucket, event, 0);
    return context.written().toBuilder().setVersioned(object.getVersioned()).build();
  }

  public static CommandResult copy(ApplyContext context, CopyObject command) {
    BucketRow bucket = context.bucket(command.getBucket());
    Profiles.checkClass(context, command.getSummary().getStorageClass());
    NewVersion version = NewVersion.of(context, bucket, command.getLock(), command.getFacts());
    ObjectRecord source =
        source(
            context, command.getSourceBucket(), command.getSourceKey(), command.getSourceVersion());
    checkMoved(context, source, command.getSourceVersion(), command.getSourceMoved());
    Encryption.requireCopy(context, source, command.getFacts());
    checkPrecondition(context, bucket, command.getKey(), command.getPrecondition());
    Versions.requireRoom(context, bucket, command.getKey(), source.getSummary().getSize(), 1);
    Blobs.take(context, source.getSlicesList());
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary().toBuilder().setSize(source.getSummary().getSize()))
            .setAttributes(command.getAttributes())
            .addAllSlices(source.getSlicesList());
    if (command.getSummary().getPartCount() > 0) {
      object.addAllParts(source.getPartsList());
    }
    return replace(
        context, bucket, command.getKey(), version.applyTo(object), EventRow.Kind.CREATED_BY_COPY);
  }

  /**
   * The source object in the version that the gateway saw. If that is gone, it is a conflict.
   *
   * @param version 0: the present one
   */
  static ObjectRecord source(ApplyContext context, String bucketName, String key, long version) {
    BucketRow bucket = context.bucket(bucketName);
    Optional<ObjectRow> seen =
        version == 0 ? Optional.empty() : Versions.written(context.table(), bucket, key, version);
    Optional<ObjectRow> source =
        seen.isPresent() ? seen : ObjectTable.row(context.table(), bucket.getId(), key);
    ObjectRow row = require(source, ResultCode.NO_SUCH_KEY);
    require(version == 0 || version == row.getVersion(), ResultCode.CONDITIONAL_CONFLICT);
    return ObjectTable.assemble(context.table(), bucket.getId(), key, row);
  }

  /** Refuses to share slices that are not those on which the gateway has decided. */
  static void checkMoved(ApplyContext context, ObjectRecord source, long version, long moved) {
    require(
        version == 0
            || moved == source.getMoved()
            || context.version() < MetadataVersion.ADDS_PROFILES,
        ResultCode.CONDITIONAL_CONFLICT);
  }

  public static CommandResult delete(ApplyContext context, DeleteObjects command) {
    BucketRow bucket = context.bucket(command.getBucket());
    if (command.hasPrecondition()) {
      require(command.getKeysCount() == 1, ResultCode.INVALID_COMMAND);
      checkPrecondition(context, bucket, command.getKeys(0), command.getPrecondition());
    }
    CommandResult.Builder result = CommandResult.newBuilder();
    int number = 0;
    for (String key : command.getKeysList()) {
      DeleteResult deleted = Versions.deletePresent(context, bucket, key);
      if (deleted.getFound()) {
        result.addDeletedKeys(key);
      }
      tell(context, bucket, key, 0, deleted, number++);
    }
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      for (DeleteTarget target : command.getTargetsList()) {
        DeleteResult deleted = delete(context, bucket, target);
        result.addDeletes(deleted);
        tell(context, bucket, target.getKey(), target.getVersion().getNumber(), deleted, number++);
      }
    }
    return result.build();
  }

  /**
   * Writes the event of a deletion, if something was deleted or marked.
   *
   * @param version id of the version that was deleted; 0: the null version
   */
  private static void tell(
      ApplyContext context,
      BucketRow bucket,
      String key,
      long version,
      DeleteResult deleted,
      int number) {
    boolean isMarked = deleted.getVersion() != 0;
    if (isMarked || deleted.getFound()) {
      EventRow.Builder event =
          EventRow.newBuilder()
              .setKind(isMarked ? EventRow.Kind.MARKED_DELETED : EventRow.Kind.DELETED)
              .setKey(key)
              .setVersion(isMarked ? deleted.getVersion() : version)
              .setVersioned(isMarked ? deleted.getVersioned() : version != 0);
      Outbox.add(context, bucket, event, number);
    }
  }

  /** Deletes one target, or says why not: the others are deleted all the same. */
  private static DeleteResult delete(ApplyContext context, BucketRow bucket, DeleteTarget target) {
    try {
      checkPrecondition(context, bucket, target.getKey(), target.getPrecondition());
      if (target.hasVersion()) {
        return Versions.deleteVersion(context, bucket, target);
      }
      boolean isOfVersion = target.getPosition() != 0 || target.getNewerKept() != 0;
      require(
          !isOfVersion || context.version() < MetadataVersion.KEEPS_NEWER_VERSIONS,
          ResultCode.INVALID_COMMAND);
      return Versions.deletePresent(context, bucket, target.getKey());
    } catch (RefusedCommandException refusal) {
      return DeleteResult.newBuilder().setCode(refusal.code()).build();
    }
  }

  /** Moves the present version of a key to another one, where it is a new version. */
  public static CommandResult rename(ApplyContext context, RenameObject command) {
    context.requireVersion(MetadataVersion.KEEPS_VERSIONS);
    BucketRow bucket = context.bucket(command.getBucket());
    String from = command.getSourceKey();
    String to = command.getKey();
    require(!from.equals(to), ResultCode.INVALID_COMMAND);
    boolean isMarked = command.hasMark() && context.version() >= MetadataVersion.MARKS_RENAMES;
    Optional<ObjectRow> done =
        isMarked ? renamedBefore(context, bucket, command) : Optional.empty();
    if (done.isPresent()) {
      return CommandResult.newBuilder()
          .setVersion(done.get().getVersion())
          .setVersioned(done.get().getVersioned())
          .build();
    }
    checkPrecondition(context, bucket, from, command.getSourcePrecondition());
    checkPrecondition(context, bucket, to, command.getPrecondition());
    ObjectRecord source = source(context, command.getBucket(), from, 0);
    boolean staysBehind = Versions.givesIds(bucket) || source.getVersioned();
    Versions.requireRoom(
        context, bucket, to, staysBehind ? source.getSummary().getSize() : 0, staysBehind ? 1 : 0);
    NewVersion version =
        NewVersion.of(context, bucket, ObjectLock.getDefaultInstance(), source.getFacts());
    Blobs.take(context, source.getSlicesList());
    ObjectRecord.Builder renamed = source.toBuilder().clearLock().clearFactsRevision();
    if (isMarked) {
      renamed.setRenamed(command.getMark());
    }
    CommandResult written =
        replace(context, bucket, to, version.applyTo(renamed), EventRow.Kind.CREATED_BY_RENAME);
    DeleteResult deleted = Versions.deletePresent(context, bucket, from);
    tell(context, bucket, from, 0, deleted, 1);
    return written.toBuilder().setSourceVersion(deleted.getVersion()).build();
  }

  /** What an earlier command with the same mark has made. */
  private static Optional<ObjectRow> renamedBefore(
      ApplyContext context, BucketRow bucket, RenameObject command) {
    RenameMark mark = command.getMark();
    Optional<ObjectRow> before =
        ObjectTable.row(context.table(), bucket.getId(), command.getKey())
            .filter(row -> row.hasRenamed())
            .filter(row -> row.getRenamed().getClientToken().equals(mark.getClientToken()));
    require(before.isEmpty() || before.get().getRenamed().equals(mark), ResultCode.TOKEN_REUSED);
    return before;
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
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      checkSummary(condition, present.map(ObjectRow::getSummary));
    }
  }

  private static void checkSummary(Precondition condition, Optional<ObjectSummary> present) {
    require(
        !condition.hasIfSize()
            || present.filter(p -> p.getSize() == condition.getIfSize()).isPresent(),
        ResultCode.PRECONDITION_FAILED);
    long seconds = condition.getIfLastModifiedMs() / 1000;
    require(
        seconds == 0 || present.filter(p -> p.getLastModifiedMs() / 1000 == seconds).isPresent(),
        ResultCode.PRECONDITION_FAILED);
  }

  private static boolean matches(String etag, Optional<ObjectRow> present) {
    return present.isPresent()
        && (etag.equals("*") || etag.equals(present.get().getSummary().getEtag()));
  }
}
