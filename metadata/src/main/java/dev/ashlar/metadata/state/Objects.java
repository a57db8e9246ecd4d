package dev.ashlar.metadata.state;

import static dev.ashlar.metadata.state.Step.require;

import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import java.util.List;
import java.util.Optional;

/** Putting, copying and deleting objects. */
final class Objects {
  /** Per version; a command or copy that would exceed it is refused. */
  static final int SLICES_MAX = 100_000;

  private Objects() {}

  static CommandResult put(Step step, PutObject command) {
    BucketRow bucket = step.bucket(command.getBucket());
    checkPrecondition(step, bucket, command.getKey(), command.getPrecondition());
    List<BlobRow> blobs = Blobs.admit(step, command.getBlobsList());
    long length = blobs.stream().mapToLong(BlobRow::getLength).sum();
    require(length == command.getSummary().getSize(), ResultCode.INVALID_COMMAND);
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary())
            .setAttributes(command.getAttributes())
            .addAllSlices(Blobs.insert(step, blobs));
    return replace(step, bucket, command.getKey(), object);
  }

  /** Makes this the object at the key; its slices bring their references with them. */
  static CommandResult replace(
      Step step, BucketRow bucket, String key, ObjectRecord.Builder object) {
    remove(step, bucket, key);
    object.setVersion(step.freshId());
    object.getSummaryBuilder().setLastModifiedMs(step.timeMs());
    ObjectTable.insert(step.table(), bucket.getId(), key, object.build());
    return step.written();
  }

  static CommandResult copy(Step step, CopyObject command) {
    BucketRow bucket = step.bucket(command.getBucket());
    ObjectRecord source =
        source(step, command.getSourceBucket(), command.getSourceKey(), command.getSourceVersion());
    checkPrecondition(step, bucket, command.getKey(), command.getPrecondition());
    Blobs.take(step, source.getSlicesList());
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(command.getSummary().toBuilder().setSize(source.getSummary().getSize()))
            .setAttributes(command.getAttributes())
            .addAllSlices(source.getSlicesList());
    if (command.getSummary().getPartCount() > 0) {
      object.addAllParts(source.getPartsList());
    }
    return replace(step, bucket, command.getKey(), object);
  }

  /** The object that the gateway saw; a different one is there now: conflict. */
  static ObjectRecord source(Step step, String bucketName, String key, long version) {
    BucketRow bucket = step.bucket(bucketName);
    ObjectRecord source =
        ObjectTable.read(step.table(), bucket.getId(), key)
            .orElseThrow(() -> new Refusal(ResultCode.NO_SUCH_KEY));
    require(version == 0 || version == source.getVersion(), ResultCode.CONDITIONAL_CONFLICT);
    return source;
  }

  static CommandResult delete(Step step, DeleteObjects command) {
    BucketRow bucket = step.bucket(command.getBucket());
    if (command.hasPrecondition()) {
      require(command.getKeysCount() == 1, ResultCode.INVALID_COMMAND);
      checkPrecondition(step, bucket, command.getKeys(0), command.getPrecondition());
    }
    CommandResult.Builder result = CommandResult.newBuilder();
    for (String key : command.getKeysList()) {
      if (remove(step, bucket, key)) {
        result.addDeletedKeys(key);
      }
    }
    return result.build();
  }

  private static boolean remove(Step step, BucketRow bucket, String key) {
    Optional<ObjectRow> row = ObjectTable.row(step.table(), bucket.getId(), key);
    if (row.isEmpty()) {
      return false;
    }
    List<SliceValue> slices =
        row.get().getChunks() == 0 && row.get().hasSlice()
            ? List.of(row.get().getSlice())
            : ObjectTable.read(step.table(), bucket.getId(), key)
                .map(ObjectRecord::getSlicesList)
                .orElse(List.of());
    Blobs.drop(step, slices);
    ObjectTable.remove(step.table(), bucket.getId(), key, row.get());
    return true;
  }

  static void checkPrecondition(Step step, BucketRow bucket, String key, Precondition condition) {
    if (condition.equals(Precondition.getDefaultInstance())) {
      return;
    }
    Optional<ObjectRow> present = ObjectTable.row(step.table(), bucket.getId(), key);
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
