package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.BlobChanges;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** Changes a range of an object: changes blobs in place, and replaces slices by new blobs. */
public final class ObjectModifications {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L; // 2^64 / phi: spreads the bits

  private ObjectModifications() {}

  public static CommandResult modify(ApplyContext context, ModifyObject command) {
    require(isWellFormed(command), ResultCode.INVALID_COMMAND);
    BucketRow bucket = context.bucket(command.getBucket());
    require(!Versions.areKept(bucket), ResultCode.INVALID_BUCKET_STATE);
    String key = command.getKey();
    ObjectCommands.checkPrecondition(context, bucket, key, command.getPrecondition());
    ObjectRow row =
        require(ObjectTable.row(context.table(), bucket.getId(), key), ResultCode.NO_SUCH_KEY);
    boolean isOfEncrypted = Encryption.isChange(context, command);
    long expected = command.getExpectedVersion();
    require(!isOfEncrypted || expected != 0, ResultCode.INVALID_COMMAND);
    // The offset of bytes that are encrypted says nothing of another version.
    if (!isOfEncrypted) {
      requireOffset(command, row.getSummary().getSize());
    }
    require(expected == 0 || expected == row.getVersion(), ResultCode.CONDITIONAL_CONFLICT);
    ObjectRecord object = ObjectTable.assemble(context.table(), bucket.getId(), key, row);
    long stored = Encryption.storedSize(context, object);
    if (isOfEncrypted) {
      requireOffset(command, stored);
    }
    long offset = command.getOffset();
    long storedAfter = Math.max(stored, offset + command.getLength());
    ObjectFacts facts = Encryption.changed(context, object, command.getPlainSize(), storedAfter);
    long size = isOfEncrypted ? command.getPlainSize() : storedAfter;
    Change change = change(context, command, object, stored);
    List<BlobRow> fresh = Blobs.admit(context, change.fresh());
    Slices.Replaced slices = Slices.replace(object.getSlicesList(), offset, change.pieces());
    require(slices.all().size() <= ObjectCommands.SLICES_MAX, ResultCode.LIMIT_EXCEEDED);

    requireRoom(context, bucket, size - row.getSummary().getSize());
    write(context, change, fresh, slices);
    ObjectSummary summary = summary(context, command, object, size, change.changed());
    ObjectRecord after =
        ObjectRecord.newBuilder()
            .setSummary(summary)
            .addAllSlices(slices.all())
            .setVersion(context.freshId())
            .setFacts(facts)
            .build();
    ObjectTable.revise(context.table(), bucket.getId(), key, row, object, after);
    EventRow.Builder event =
        EventRow.newBuilder()
            .setKind(EventRow.Kind.CHANGED)
            .setKey(key)
            .setVersion(after.getVersion())
            .setSize(summary.getSize())
            .setEtag(summary.getEtag());
    Outbox.add(context, bucket, event, 0);
    return context.written().toBuilder()
        .setSize(summary.getSize())
        .setEtag(summary.getEtag())
        .build();
  }

  private static void requireOffset(ModifyObject command, long size) {
    long offset = command.getOffset();
    require(command.getAppend() ? offset == size : offset <= size, ResultCode.INVALID_OFFSET);
  }

  private static void requireRoom(ApplyContext context, BucketRow bucket, long grown) {
    if (context.version() >= MetadataVersion.KEEPS_VERSIONS && context.usage().isLimited(bucket)) {
      context.usage().requireRoom(bucket, grown, 0);
    }
  }

  private static void write(
      ApplyContext context, Change change, List<BlobRow> fresh, Slices.Replaced slices) {
    List<SliceValue> referring = new ArrayList<>(slices.gone());
    referring.addAll(Blobs.insert(context, fresh));
    change.changed().forEach(blob -> Blobs.write(context, blob.before(), blob.after()));
    Blobs.exchange(context, referring, slices.added());
  }

  private static boolean isWellFormed(ModifyObject command) {
    Set<BlobIdValue> changed = new HashSet<>();
    long left = command.getLength();
    for (ObjectPiece piece : command.getPiecesList()) {
      long length = length(piece);
      boolean isWellFormed =
          switch (piece.getKindCase()) {
            case CHANGE ->
                BlobChanges.isWellFormed(piece.getChange())
                    && changed.add(piece.getChange().getBlob());
            case BLOB -> true; // seen to when it is admitted
            case KIND_NOT_SET -> false;
          };
      if (!isWellFormed || length <= 0 || length > left) {
        return false;
      }
      left -= length;
    }
    return left == 0
        && command.getLength() > 0
        && command.getOffset() >= 0
        && command.getOffset() <= Long.MAX_VALUE - command.getLength();
  }

  private static long length(ObjectPiece piece) {
    return piece.hasChange() ? piece.getChange().getLength() : piece.getBlob().getLength();
  }

  /**
   * The effect of a command on blobs, not written yet.
   *
   * @param pieces the slices of the new bytes
   * @param changed blobs changed in place
   * @param fresh new blobs
   */
  private record Change(List<SliceValue> pieces, List<Changed> changed, List<NewBlob> fresh) {}

  /** A blob's row before and after the command. */
  private record Changed(BlobRow before, BlobRow after) {}

  private static Change change(
      ApplyContext context, ModifyObject command, ObjectRecord object, long stored) {
    Change change = new Change(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    Place place = new Place(object.getSlicesList());
    long position = command.getOffset();
    for (ObjectPiece piece : command.getPiecesList()) {
      if (piece.hasChange()) {
        place.moveTo(position);
        change.changed().add(changedInPlace(context, place, piece.getChange()));
        change.pieces().add(slice(piece.getChange()));
      } else {
        // Bytes that the writer has not seen must not be replaced.
        boolean replaces = position < stored;
        require(!replaces || command.getExpectedVersion() != 0, ResultCode.CONDITIONAL_CONFLICT);
        NewBlob blob = piece.getBlob();
        change.fresh().add(blob);
        change.pieces().add(Blobs.slice(blob.getId(), blob.getLength()));
      }
      position += length(piece);
    }
    return change;
  }

  private static SliceValue slice(BlobChange change) {
    return SliceValue.newBuilder()
        .setBlob(change.getBlob())
        .setOffset(change.getOffset())
        .setLength(change.getLength())
        .build();
  }

  /** Changes a blob whose slice still is where the writer saw it. */
  private static Changed changedInPlace(ApplyContext context, Place place, BlobChange change) {
    require(context.sessions().isLive(change.getAttempt().getSession()), ResultCode.DEAD_SESSION);
    BlobRow row = require(Blobs.find(context, change.getBlob()), ResultCode.CONDITIONAL_CONFLICT);
    // Checked first, because after a conflict the writer discards the intents of its attempt.
    require(BlobChanges.isPossible(context, row, change), ResultCode.INVALID_COMMAND);
    require(place.holds(change), ResultCode.CONDITIONAL_CONFLICT);
    require(
        BlobChanges.grows(change)
            ? place.isLast() && place.sliceEnd() == row.getLength()
            : change.getOffset() + change.getLength() <= place.sliceEnd(),
        ResultCode.CONDITIONAL_CONFLICT);
    return new Changed(row, BlobChanges.apply(context, row, change));
  }

  /** A position in an object: in one of its slices, or after the last one. */
  private static final class Place {
    private final List<SliceValue> slices;
    private int index;
    private long sliceBegin;
    private long position;

    Place(List<SliceValue> slices) {
      this.slices = slices;
    }

    /** Forwards only. */
    void moveTo(long place) {
      position = place;
      while (index + 1 < slices.size() && place >= sliceBegin + slices.get(index).getLength()) {
        sliceBegin += slices.get(index++).getLength();
      }
    }

    /** Whether the change begins at this position of the present slice, or directly after it. */
    boolean holds(BlobChange change) {
      return index < slices.size()
          && slices.get(index).getBlob().equals(change.getBlob())
          && slices.get(index).getOffset() + position - sliceBegin == change.getOffset();
    }

    boolean isLast() {
      return index == slices.size() - 1;
    }

    /** The end of the slice in its blob. */
    long sliceEnd() {
      return slices.get(index).getOffset() + slices.get(index).getLength();
    }
  }

  private static ObjectSummary summary(
      ApplyContext context,
      ModifyObject command,
      ObjectRecord object,
      long size,
      List<Changed> changed) {
    ObjectSummary.Builder summary =
        object.getSummary().toBuilder()
            .setSize(size)
            .setEtag(etag(context.freshId(), changed))
            .setLastModifiedMs(context.writtenMs())
            .clearChecksum()
            .setPartCount(0);
    long base = command.getChecksumBase();
    if (command.hasChecksum() && (base == 0 || base == object.getVersion())) {
      summary.setChecksum(command.getChecksum());
    }
    return summary.build();
  }

  /**
   * An ETag that differs from version to version. It is no MD5, as its suffix shows, and not that
   * of a multipart object, whose suffix is a number.
   */
  private static String etag(long version, List<Changed> changed) {
    long revisions = changed.stream().mapToLong(blob -> blob.after().getRevision()).sum();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(version) + hex.toHexDigits((version + revisions) * GOLDEN) + "-a";
  }
}
