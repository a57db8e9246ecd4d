package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives versions other blobs with the same bytes, of another profile. Nothing else changes of a
 * version but its storage class, so neither locks nor quotas are asked, and nobody is told.
 */
public final class ObjectMoves {
  private ObjectMoves() {}

  public static CommandResult move(ApplyContext context, MoveObject command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    BucketRow bucket = context.bucket(command.getBucket());
    String key = command.getKey();
    ObjectRow row =
        require(
            Versions.written(context.table(), bucket, key, command.getVersion()),
            ResultCode.NO_SUCH_VERSION);
    // Equal positions mean equal slices, so the bytes that were read are those of this version.
    require(row.getMoved() == command.getMoved(), ResultCode.CONDITIONAL_CONFLICT);
    if (command.hasStorageClass()) {
      Profiles.checkClass(context, command.getStorageClass());
    }
    List<BlobRow> fresh = Blobs.admit(context, command.getBlobsList());
    ObjectRecord before = ObjectTable.assemble(context.table(), bucket.getId(), key, row);
    Slices.Replaced slices = replaced(context, before, command, fresh);
    require(slices.all().size() <= ObjectCommands.SLICES_MAX, ResultCode.LIMIT_EXCEEDED);

    List<SliceValue> referring = new ArrayList<>(slices.gone());
    referring.addAll(Blobs.insert(context, fresh));
    Blobs.exchange(context, referring, slices.added());
    ObjectRecord.Builder after =
        before.toBuilder().clearSlices().addAllSlices(slices.all()).setMoved(context.freshId());
    if (command.hasStorageClass()) {
      after.getSummaryBuilder().setStorageClass(command.getStorageClass());
    }
    ObjectTable.move(context.table(), bucket.getId(), key, row, before, after.build());
    return CommandResult.newBuilder().setVersion(context.freshId()).build();
  }

  private static Slices.Replaced replaced(
      ApplyContext context, ObjectRecord before, MoveObject command, List<BlobRow> fresh) {
    long length = fresh.stream().mapToLong(BlobRow::getLength).sum();
    long offset = command.getOffset();
    long size = Encryption.storedSize(context, before);
    require(offset >= 0 && offset <= size && length <= size - offset, ResultCode.INVALID_COMMAND);
    if (fresh.isEmpty()) {
      return new Slices.Replaced(before.getSlicesList(), List.of(), List.of());
    }
    List<SliceValue> pieces =
        fresh.stream().map(blob -> Blobs.slice(blob.getId(), blob.getLength())).toList();
    return Slices.replace(before.getSlicesList(), offset, pieces);
  }
}
