package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests, byte for byte. How many checksums there are follows from the lengths. */
final class RequestCodec {
  private static final int RANGE_BYTES = Long.BYTES + Integer.BYTES;
  private static final int PROFILE_BYTES = 3 + Integer.BYTES;
  private static final int FOLD_BYTES =
      WireValues.SHARD_BYTES + WireValues.ATTEMPT_BYTES + 2 * Long.BYTES;

  private RequestCodec() {}

  static int bytes(Request request) {
    return switch (request) {
      case Request.Read read ->
          WireValues.SHARD_BYTES + WireValues.bytes(read.view()) + RANGE_BYTES;
      case Request.Write write -> WireValues.SHARD_BYTES + RANGE_BYTES + crcBytes(write.crcs());
      case Request.PrepareBytes bytes ->
          WireValues.bytes(bytes.target()) + RANGE_BYTES + crcBytes(bytes.crcs());
      case Request.PrepareDeltas deltas ->
          WireValues.bytes(deltas.target())
              + PROFILE_BYTES
              + Short.BYTES
              + deltas.ranges().stream()
                  .mapToInt(range -> 1 + RANGE_BYTES + crcBytes(range.crcs()))
                  .sum();
      case Request.FoldAll fold -> Short.BYTES + fold.folds().size() * FOLD_BYTES;
      case Request.DropAll drop -> Short.BYTES + drop.drops().size() * WireValues.DROP_BYTES;
      case Request.DeleteAll delete -> Short.BYTES + delete.blobs().size() * WireValues.BLOB_BYTES;
      case Request.ListBlobs list ->
          Long.BYTES + Short.BYTES + 1 + (list.after() == null ? 0 : WireValues.BLOB_BYTES);
      case Request.ListAttempts list ->
          Long.BYTES + Short.BYTES + 1 + (list.after() == null ? 0 : WireValues.DROP_BYTES);
    };
  }

  private static int crcBytes(int[] crcs) {
    return crcs.length * Integer.BYTES;
  }

  static void put(ByteBuffer out, Request request) {
    switch (request) {
      case Request.Read read -> {
        WireValues.putShard(out, read.shard());
        WireValues.putView(out, read.view());
        out.putLong(read.offset()).putInt(read.length());
      }
      case Request.Write write -> {
        WireValues.putShard(out, write.shard());
        putRange(out, write.offset(), write.length(), write.crcs());
      }
      case Request.PrepareBytes bytes -> {
        WireValues.putTarget(out, bytes.target());
        putRange(out, bytes.offset(), bytes.length(), bytes.crcs());
      }
      case Request.PrepareDeltas deltas -> putDeltas(out, deltas);
      case Request.FoldAll all -> putFolds(out, all.folds());
      case Request.DropAll all -> {
        out.putShort((short) all.drops().size());
        all.drops().forEach(drop -> WireValues.putDrop(out, drop));
      }
      case Request.DeleteAll all -> {
        out.putShort((short) all.blobs().size());
        all.blobs().forEach(blob -> WireValues.putBlob(out, blob));
      }
      case Request.ListBlobs list -> {
        putPage(out, list.session(), list.max(), list.after() != null);
        if (list.after() != null) {
          WireValues.putBlob(out, list.after());
        }
      }
      case Request.ListAttempts list -> {
        putPage(out, list.session(), list.max(), list.after() != null);
        if (list.after() != null) {
          WireValues.putDrop(out, list.after());
        }
      }
    }
  }

  private static void putRange(ByteBuffer out, long offset, int length, int[] crcs) {
    out.putLong(offset).putInt(length);
    WireValues.putCrcs(out, crcs);
  }

  private static void putDeltas(ByteBuffer out, Request.PrepareDeltas deltas) {
    Profile profile = deltas.profile();
    WireValues.putTarget(out, deltas.target());
    out.put((byte) profile.dataShards()).put((byte) profile.parityShards());
    out.put((byte) (profile.isClassic() ? 1 : 0)).putInt(profile.stripeUnit());
    out.putShort((short) deltas.ranges().size());
    for (Request.Range range : deltas.ranges()) {
      out.put((byte) range.dataShard());
      putRange(out, range.offset(), range.length(), range.crcs());
    }
  }

  private static void putFolds(ByteBuffer out, List<FoldIntent> folds) {
    out.putShort((short) folds.size());
    for (FoldIntent fold : folds) {
      WireValues.putShard(out, fold.shard());
      WireValues.putAttempt(out, fold.attempt());
      out.putLong(fold.revision()).putLong(fold.after());
    }
  }

  private static void putPage(ByteBuffer out, long session, int max, boolean isContinued) {
    out.putLong(session).putShort((short) max).put((byte) (isContinued ? 1 : 0));
  }

  static Request take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case READ ->
          new Request.Read(
              WireValues.takeShard(in), WireValues.takeView(in), in.getLong(), in.getInt());
      case WRITE -> takeWrite(in);
      case PREPARE_BYTES -> takeBytes(in);
      case PREPARE_DELTAS ->
          new Request.PrepareDeltas(
              WireValues.takeTarget(in),
              takeProfile(in),
              WireValues.takeList(in, 1 + RANGE_BYTES, RequestCodec::takeDelta));
      case FOLD -> new Request.FoldAll(WireValues.takeList(in, FOLD_BYTES, RequestCodec::takeFold));
      case DROP ->
          new Request.DropAll(WireValues.takeList(in, WireValues.DROP_BYTES, WireValues::takeDrop));
      case DELETE ->
          new Request.DeleteAll(
              WireValues.takeList(in, WireValues.BLOB_BYTES, WireValues::takeBlob));
      case LIST_BLOBS -> takeListBlobs(in);
      case LIST_ATTEMPTS -> takeListAttempts(in);
      default -> throw new WireFormatException(type + " is no request");
    };
  }

  private static Request takeWrite(ByteBuffer in) throws WireFormatException {
    ShardId shard = WireValues.takeShard(in);
    long offset = in.getLong();
    int length = in.getInt();
    int[] crcs = WireValues.takeCrcs(in, Math.ceilDiv(length, Profile.BLOCK_BYTES));
    return new Request.Write(shard, offset, length, crcs);
  }

  private static Request takeBytes(ByteBuffer in) throws WireFormatException {
    ShardIntent.Target target = WireValues.takeTarget(in);
    long offset = in.getLong();
    int length = in.getInt();
    int[] crcs = WireValues.takeCrcs(in, ShardIntent.pieces(offset, length));
    return new Request.PrepareBytes(target, offset, length, crcs);
  }

  private static Request.Range takeDelta(ByteBuffer in) throws WireFormatException {
    int dataShard = Byte.toUnsignedInt(in.get());
    long offset = in.getLong();
    int length = in.getInt();
    int[] crcs = WireValues.takeCrcs(in, ShardIntent.pieces(offset, length));
    return new Request.Range(dataShard, offset, length, crcs);
  }

  private static Profile takeProfile(ByteBuffer in) {
    int dataShards = Byte.toUnsignedInt(in.get());
    int parityShards = Byte.toUnsignedInt(in.get());
    boolean isClassic = in.get() != 0;
    return new Profile(dataShards, parityShards, in.getInt(), isClassic);
  }

  private static FoldIntent takeFold(ByteBuffer in) {
    return new FoldIntent(
        WireValues.takeShard(in), WireValues.takeAttempt(in), in.getLong(), in.getLong());
  }

  private static Request takeListBlobs(ByteBuffer in) {
    long session = in.getLong();
    int max = in.getShort();
    @Nullable BlobId after = in.get() == 0 ? null : WireValues.takeBlob(in);
    return new Request.ListBlobs(session, after, max);
  }

  private static Request takeListAttempts(ByteBuffer in) {
    long session = in.getLong();
    int max = in.getShort();
    @Nullable DiscardIntent after = in.get() == 0 ? null : WireValues.takeDrop(in);
    return new Request.ListAttempts(session, after, max);
  }
}
