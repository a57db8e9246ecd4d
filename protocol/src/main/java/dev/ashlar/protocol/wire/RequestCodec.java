package dev.ashlar.protocol.wire;

import static dev.ashlar.protocol.wire.WireValues.BLOB;
import static dev.ashlar.protocol.wire.WireValues.DISCARD;
import static dev.ashlar.protocol.wire.WireValues.FOLD;
import static dev.ashlar.protocol.wire.WireValues.SHARD;

import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Requests, byte for byte. How many checksums there are follows from the lengths. */
final class RequestCodec {
  private static final int RANGE_BYTES = Long.BYTES + Integer.BYTES;
  private static final int PROFILE_BYTES = 3 + Integer.BYTES;
  private static final int PAGE_BYTES = Long.BYTES + Short.BYTES;

  private RequestCodec() {}

  static int bytes(Request request) {
    return switch (request) {
      case Request.Read read -> SHARD.bytes() + WireValues.bytes(read.view()) + RANGE_BYTES;
      case Request.Write write -> SHARD.bytes() + rangeBytes(write.crcs());
      case Request.PrepareBytes bytes ->
          WireValues.bytes(bytes.target()) + rangeBytes(bytes.crcs());
      case Request.PrepareDeltas deltas ->
          WireValues.bytes(deltas.target())
              + PROFILE_BYTES
              + Short.BYTES
              + deltas.ranges().stream().mapToInt(range -> 1 + rangeBytes(range.crcs())).sum();
      case Request.FoldAll all -> FOLD.listBytes(all.folds());
      case Request.DropAll all -> DISCARD.listBytes(all.drops());
      case Request.DeleteAll all -> BLOB.listBytes(all.blobs());
      case Request.ListBlobs list -> PAGE_BYTES + BLOB.optionBytes(list.after());
      case Request.ListAttempts list -> PAGE_BYTES + DISCARD.optionBytes(list.after());
    };
  }

  private static int rangeBytes(int[] crcs) {
    return RANGE_BYTES + crcs.length * Integer.BYTES;
  }

  static void put(ByteBuffer out, Request request) {
    switch (request) {
      case Request.Read read -> {
        SHARD.put(out, read.shard());
        WireValues.putView(out, read.view());
        out.putLong(read.offset()).putInt(read.length());
      }
      case Request.Write write -> {
        SHARD.put(out, write.shard());
        putRange(out, write.offset(), write.length(), write.crcs());
      }
      case Request.PrepareBytes bytes -> {
        WireValues.putTarget(out, bytes.target());
        putRange(out, bytes.offset(), bytes.length(), bytes.crcs());
      }
      case Request.PrepareDeltas deltas -> putDeltas(out, deltas);
      case Request.FoldAll all -> FOLD.putList(out, all.folds());
      case Request.DropAll all -> DISCARD.putList(out, all.drops());
      case Request.DeleteAll all -> BLOB.putList(out, all.blobs());
      case Request.ListBlobs list -> {
        out.putLong(list.session()).putShort((short) list.max());
        BLOB.putOption(out, list.after());
      }
      case Request.ListAttempts list -> {
        out.putLong(list.session()).putShort((short) list.max());
        DISCARD.putOption(out, list.after());
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

  static Request take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case READ ->
          new Request.Read(SHARD.take(in), WireValues.takeView(in), in.getLong(), in.getInt());
      case WRITE -> {
        ShardId shard = SHARD.take(in);
        yield takeRange(
            in, (offset, length, crcs) -> new Request.Write(shard, offset, length, crcs));
      }
      case PREPARE_BYTES -> {
        ShardIntent.Target target = WireValues.takeTarget(in);
        yield takeRange(
            in, (offset, length, crcs) -> new Request.PrepareBytes(target, offset, length, crcs));
      }
      case PREPARE_DELTAS ->
          new Request.PrepareDeltas(
              WireValues.takeTarget(in),
              takeProfile(in),
              WireValues.takeList(in, 1 + RANGE_BYTES, RequestCodec::takeDelta));
      case FOLD -> new Request.FoldAll(FOLD.takeList(in));
      case DROP -> new Request.DropAll(DISCARD.takeList(in));
      case DELETE -> new Request.DeleteAll(BLOB.takeList(in));
      case LIST_BLOBS -> takePage(in, BLOB, Request.ListBlobs::new);
      case LIST_ATTEMPTS -> takePage(in, DISCARD, Request.ListAttempts::new);
      default -> throw new WireFormatException(type + " is not a request");
    };
  }

  private interface RangeOf<T> {
    T of(long offset, int length, int[] crcs);
  }

  /** Takes a range and the checksums of the blocks that it touches. */
  private static <T> T takeRange(ByteBuffer in, RangeOf<T> range) throws WireFormatException {
    long offset = in.getLong();
    int length = in.getInt();
    return range.of(offset, length, WireValues.takeCrcs(in, ShardIntent.pieces(offset, length)));
  }

  private static Request.Range takeDelta(ByteBuffer in) throws WireFormatException {
    int dataShard = Byte.toUnsignedInt(in.get());
    return takeRange(
        in, (offset, length, crcs) -> new Request.Range(dataShard, offset, length, crcs));
  }

  private static Profile takeProfile(ByteBuffer in) {
    int dataShards = Byte.toUnsignedInt(in.get());
    int parityShards = Byte.toUnsignedInt(in.get());
    boolean isClassic = in.get() != 0;
    return new Profile(dataShards, parityShards, in.getInt(), isClassic);
  }

  private interface PageOf<T> {
    Request of(long session, @Nullable T after, int max);
  }

  private static <T> Request takePage(ByteBuffer in, WireValues.Layout<T> entry, PageOf<T> page)
      throws WireFormatException {
    long session = in.getLong();
    int max = in.getShort();
    return page.of(session, entry.takeOption(in), max);
  }
}
