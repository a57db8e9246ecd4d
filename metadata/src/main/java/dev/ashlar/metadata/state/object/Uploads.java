package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PartSummary;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Multipart uploads: data is written with the parts; completing an upload moves none. */
public final class Uploads {
  public static final long PART_MIN_BYTES = 5L << 20;
  static final int PART_NUMBER_MAX = 10_000;

  /** The maximum of uploads and parts removed together with their bucket. */
  static final int ROWS_REMOVED_MAX = 10_000;

  private Uploads() {}

  public static CommandResult create(ApplyContext context, CreateUpload command) {
    UploadRow upload = command.getUpload();
    BucketRow bucket = context.bucket(upload.getBucket());
    byte[] key = Keys.upload(bucket.getId(), upload.getKey(), upload.getUploadId());
    require(
        !upload.getUploadId().isEmpty() && context.table().get(key) == null,
        ResultCode.INVALID_COMMAND);
    Profiles.checkClass(context, upload.getStorageClass());
    Encryption.requirePossible(context, upload);
    UploadRow.Builder row = upload.toBuilder().setInitiatedAtMs(context.writtenMs());
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS) {
      Locks.requirePossible(bucket, upload.getLock());
      row.clearRetention();
      if (bucket.hasRetention()) {
        row.setRetention(bucket.getRetention());
      }
    }
    Encryption.begin(context, upload.getFacts());
    context.table().put(key, row.build().toByteArray());
    return ApplyContext.OK;
  }

  public static CommandResult putPart(ApplyContext context, PutPart command) {
    Upload upload = find(context, command.getBucket(), command.getKey(), command.getUploadId());
    List<BlobRow> blobs = Blobs.admit(context, command.getBlobsList());
    long length = blobs.stream().mapToLong(BlobRow::getLength).sum();
    PartRow part = command.getPart();
    long stored = Encryption.storedSize(context, upload.row(), part);
    require(length == stored, ResultCode.INVALID_COMMAND);
    checkNumber(part);
    requireRoom(context, upload, part.getNumber(), part.getSize());
    return replacePart(context, upload, part, Blobs.insert(context, blobs));
  }

  public static CommandResult copyPart(ApplyContext context, CopyPart command) {
    Upload upload = find(context, command.getBucket(), command.getKey(), command.getUploadId());
    ObjectRecord source =
        ObjectCommands.source(
            context, command.getSourceBucket(), command.getSourceKey(), command.getSourceVersion());
    ObjectCommands.checkMoved(
        context, source, command.getSourceVersion(), command.getSourceMoved());
    Encryption.requirePlain(context, upload.row(), source, command.getPart());
    checkNumber(command.getPart());
    long offset = command.getSourceOffset();
    long length = command.getSourceLength();
    long size = source.getSummary().getSize();
    require(
        offset >= 0 && length >= 0 && offset <= size && length <= size - offset,
        ResultCode.INVALID_RANGE);
    requireRoom(context, upload, command.getPart().getNumber(), length);
    List<SliceValue> slices = Slices.cut(source.getSlicesList(), offset, length);
    Blobs.take(context, slices);
    PartRow part = command.getPart().toBuilder().setSize(length).build();
    return replacePart(context, upload, part, slices);
  }

  private static void requireRoom(ApplyContext context, Upload upload, int number, long bytes) {
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS
        && context.usage().isLimited(upload.bucket())) {
      long replaced =
          context
              .table()
              .row(upload.partKey(number), PartRow.parser())
              .map(PartRow::getSize)
              .orElse(0L);
      context.usage().requireRoom(upload.bucket(), bytes - replaced, 0);
    }
  }

  private static void checkNumber(PartRow part) {
    require(part.getNumber() >= 1 && part.getNumber() <= PART_NUMBER_MAX, ResultCode.INVALID_PART);
  }

  private static CommandResult replacePart(
      ApplyContext context, Upload upload, PartRow part, List<SliceValue> slices) {
    byte[] key = upload.partKey(part.getNumber());
    context
        .table()
        .row(key, PartRow.parser())
        .ifPresent(old -> Blobs.drop(context, old.getSlicesList()));
    PartRow row =
        part.toBuilder()
            .clearSlices()
            .addAllSlices(slices)
            .setToken(context.freshId())
            .setLastModifiedMs(context.writtenMs())
            .build();
    context.table().put(key, row.toByteArray());
    return context.written();
  }

  public static CommandResult complete(ApplyContext context, CompleteUpload command) {
    Upload upload = find(context, command.getBucket(), command.getKey(), command.getUploadId());
    ObjectCommands.checkPrecondition(
        context, upload.bucket(), command.getKey(), command.getPrecondition());
    UploadRow row = upload.row();
    List<PartRow> parts = named(context, upload, command.getPartsList());
    List<EncryptedRun> runs = Encryption.runs(context, row, parts);
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder().setAttributes(row.getAttributes()).setUploadId(row.getUploadId());
    long size = 0;
    for (PartRow part : parts) {
      size += part.getSize();
      object.addAllSlices(part.getSlicesList());
      object.addParts(summary(part));
    }
    require(object.getSlicesCount() <= ObjectCommands.SLICES_MAX, ResultCode.LIMIT_EXCEEDED);
    Versions.requireRoom(context, upload.bucket(), command.getKey(), 0, 1); // parts are counted
    ObjectSummary.Builder summary =
        ObjectSummary.newBuilder()
            .setSize(size)
            .setEtag(command.getEtag())
            .setOwner(row.getOwner())
            .setStorageClass(row.getStorageClass())
            .setPartCount(parts.size());
    if (command.hasChecksum()) {
      summary.setChecksum(command.getChecksum());
    }
    Set<Integer> used = new HashSet<>();
    parts.forEach(part -> used.add(part.getNumber()));
    remove(context, upload, used);
    Encryption.begin(context, row.getFacts());
    NewVersion version = NewVersion.of(context, upload.bucket(), row, runs);
    return ObjectCommands.replace(
        context,
        upload.bucket(),
        command.getKey(),
        version.applyTo(object.setSummary(summary)),
        EventRow.Kind.CREATED_BY_UPLOAD);
  }

  private static PartSummary summary(PartRow part) {
    PartSummary.Builder summary =
        PartSummary.newBuilder().setNumber(part.getNumber()).setSize(part.getSize());
    return (part.hasChecksum() ? summary.setChecksum(part.getChecksum()) : summary).build();
  }

  /** The parts that the client listed, each unchanged since it saw it. */
  private static List<PartRow> named(
      ApplyContext context, Upload upload, List<CompletePart> names) {
    require(!names.isEmpty(), ResultCode.INVALID_PART);
    List<PartRow> parts = new ArrayList<>(names.size());
    int previous = 0;
    for (CompletePart name : names) {
      require(name.getNumber() > previous, ResultCode.INVALID_PART);
      previous = name.getNumber();
      PartRow part =
          require(
              context.table().row(upload.partKey(name.getNumber()), PartRow.parser()),
              ResultCode.INVALID_PART);
      require(part.getToken() == name.getToken(), ResultCode.INVALID_PART);
      parts.add(part);
    }
    for (PartRow part : parts.subList(0, parts.size() - 1)) {
      require(part.getSize() >= PART_MIN_BYTES, ResultCode.ENTITY_TOO_SMALL);
    }
    return parts;
  }

  public static CommandResult abort(ApplyContext context, AbortUpload command) {
    Upload upload = find(context, command.getBucket(), command.getKey(), command.getUploadId());
    remove(context, upload, Set.of());
    return ApplyContext.OK;
  }

  /** Removes the upload and its parts; used parts keep their references. */
  private static void remove(ApplyContext context, Upload upload, Set<Integer> used) {
    byte[] from = upload.partKey(0);
    try (Table.Cursor cursor = context.table().cursor(from, upload.partKey(Integer.MAX_VALUE))) {
      for (; cursor.isValid(); cursor.next()) {
        PartRow part = Table.parse(cursor.value(), PartRow.parser());
        if (!used.contains(part.getNumber())) {
          Blobs.drop(context, part.getSlicesList());
        }
        context.table().delete(cursor.key());
      }
    }
    context.table().delete(upload.key());
  }

  /** Aborts every upload of a bucket, unless that is too much for one command. */
  static void removeAll(ApplyContext context, long bucketId) {
    int rows = count(context, 'U', bucketId, 0);
    require(count(context, 'T', bucketId, rows) <= ROWS_REMOVED_MAX, ResultCode.LIMIT_EXCEEDED);
    BucketRow bucket = BucketRow.newBuilder().setId(bucketId).build();
    context
        .table()
        .forEach(
            Keys.inBucket('U', bucketId),
            (key, value) ->
                remove(
                    context, new Upload(bucket, Table.parse(value, UploadRow.parser())), Set.of()));
  }

  /**
   * Adds the number of the bucket's rows in this table to {@code others}; stops counting above the
   * maximum.
   */
  private static int count(ApplyContext context, char table, long bucketId, int others) {
    int rows = others;
    try (Table.Cursor cursor = context.table().cursor(Keys.inBucket(table, bucketId))) {
      for (; cursor.isValid() && rows <= ROWS_REMOVED_MAX; cursor.next()) {
        rows++;
      }
    }
    return rows;
  }

  private static Upload find(ApplyContext context, String bucketName, String key, String uploadId) {
    BucketRow bucket = context.bucket(bucketName);
    Optional<UploadRow> row =
        context.table().row(Keys.upload(bucket.getId(), key, uploadId), UploadRow.parser());
    return new Upload(bucket, require(row, ResultCode.NO_SUCH_UPLOAD));
  }

  private record Upload(BucketRow bucket, UploadRow row) {
    byte[] key() {
      return Keys.upload(bucket.getId(), row.getKey(), row.getUploadId());
    }

    byte[] partKey(int number) {
      return Keys.part(bucket.getId(), row.getKey(), row.getUploadId(), number);
    }
  }
}
