package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The values of which messages are made. Whatever is counted is checked before it is allocated. */
final class WireValues {
  static final int BLOB_BYTES = 16;
  static final int ATTEMPT_BYTES = 16;
  static final int SHARD_BYTES = BLOB_BYTES + 1;
  static final int DROP_BYTES = BLOB_BYTES + ATTEMPT_BYTES;
  private static final int COMMITTED_BYTES = ATTEMPT_BYTES + Long.BYTES;
  private static final int VIEW_BYTES = 2 * Long.BYTES + Short.BYTES;

  private WireValues() {}

  /** Takes one value of a list. */
  interface Taker<T> {
    T take(ByteBuffer in) throws WireFormatException;
  }

  /** Takes as many values as a two-byte count says. */
  static <T> List<T> takeList(ByteBuffer in, int eachBytesMin, Taker<T> taker)
      throws WireFormatException {
    int count = Short.toUnsignedInt(in.getShort());
    if ((long) count * eachBytesMin > in.remaining()) {
      throw new WireFormatException(count + " entries in " + in.remaining() + " bytes");
    }
    List<T> list = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      list.add(taker.take(in));
    }
    return list;
  }

  static int[] takeCrcs(ByteBuffer in, int count) throws WireFormatException {
    if (count < 0 || (long) count * Integer.BYTES > in.remaining()) {
      throw new WireFormatException(count + " checksums in " + in.remaining() + " bytes");
    }
    int[] crcs = new int[count];
    in.asIntBuffer().get(crcs);
    in.position(in.position() + count * Integer.BYTES);
    return crcs;
  }

  static void putCrcs(ByteBuffer out, int[] crcs) {
    out.asIntBuffer().put(crcs);
    out.position(out.position() + crcs.length * Integer.BYTES);
  }

  static void putBlob(ByteBuffer out, BlobId blob) {
    out.putLong(blob.session()).putLong(blob.sequence());
  }

  static BlobId takeBlob(ByteBuffer in) {
    return new BlobId(in.getLong(), in.getLong());
  }

  static void putAttempt(ByteBuffer out, AttemptId attempt) {
    out.putLong(attempt.session()).putLong(attempt.sequence());
  }

  static AttemptId takeAttempt(ByteBuffer in) {
    return new AttemptId(in.getLong(), in.getLong());
  }

  static void putDrop(ByteBuffer out, DiscardIntent drop) {
    putBlob(out, drop.blob());
    putAttempt(out, drop.attempt());
  }

  static DiscardIntent takeDrop(ByteBuffer in) {
    return new DiscardIntent(takeBlob(in), takeAttempt(in));
  }

  static void putShard(ByteBuffer out, ShardId shard) {
    putBlob(out, shard.blob());
    out.put((byte) shard.slot());
  }

  static ShardId takeShard(ByteBuffer in) {
    return new ShardId(takeBlob(in), Byte.toUnsignedInt(in.get()));
  }

  static int bytes(ShardView view) {
    return VIEW_BYTES + view.unfolded().size() * COMMITTED_BYTES;
  }

  static void putView(ByteBuffer out, ShardView view) {
    out.putLong(view.revision()).putLong(view.folded());
    out.putShort((short) view.unfolded().size());
    for (CommittedAttempt each : view.unfolded()) {
      putAttempt(out, each.attempt());
      out.putLong(each.revision());
    }
  }

  static ShardView takeView(ByteBuffer in) throws WireFormatException {
    long revision = in.getLong();
    long folded = in.getLong();
    List<CommittedAttempt> unfolded =
        takeList(
            in, COMMITTED_BYTES, each -> new CommittedAttempt(takeAttempt(each), each.getLong()));
    boolean isOriginal = revision == 0 && folded == 0 && unfolded.isEmpty();
    return isOriginal ? ShardView.ORIGINAL : new ShardView(revision, folded, unfolded);
  }

  static int bytes(ShardIntent.Target target) {
    return SHARD_BYTES + ATTEMPT_BYTES + bytes(target.base()) + Long.BYTES;
  }

  static void putTarget(ByteBuffer out, ShardIntent.Target target) {
    putShard(out, target.shard());
    putAttempt(out, target.attempt());
    putView(out, target.base());
    out.putLong(target.baseLength());
  }

  static ShardIntent.Target takeTarget(ByteBuffer in) throws WireFormatException {
    return new ShardIntent.Target(takeShard(in), takeAttempt(in), takeView(in), in.getLong());
  }

  static void putUuid(ByteBuffer out, UUID uuid) {
    out.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
  }

  static UUID takeUuid(ByteBuffer in) {
    return new UUID(in.getLong(), in.getLong());
  }

  static byte[] takeBytes(ByteBuffer in, int count) {
    byte[] bytes = new byte[count];
    in.get(bytes);
    return bytes;
  }

  /** All that is left. It will be logged: nobody shall write lines of his own into a log. */
  static String takeText(ByteBuffer in) {
    StringBuilder text =
        new StringBuilder(new String(takeBytes(in, in.remaining()), StandardCharsets.UTF_8));
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        text.setCharAt(i, '?');
      }
    }
    return text.toString();
  }

  static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The numbers are for ever. */
  static byte code(@Nullable ShardFault fault) {
    if (fault == null) {
      return 0;
    }
    return switch (fault) {
      case MISSING -> 1;
      case CORRUPT -> 2;
      case IO_ERROR -> 3;
      case READ_ONLY -> 4;
      case FULL -> 5;
      case OVERLOADED -> 6;
      case UNAVAILABLE -> 7;
      case REVISION_GONE -> 8;
    };
  }

  static @Nullable ShardFault fault(byte code) throws WireFormatException {
    return switch (code) {
      case 0 -> null;
      case 1 -> ShardFault.MISSING;
      case 2 -> ShardFault.CORRUPT;
      case 3 -> ShardFault.IO_ERROR;
      case 4 -> ShardFault.READ_ONLY;
      case 5 -> ShardFault.FULL;
      case 6 -> ShardFault.OVERLOADED;
      case 7 -> ShardFault.UNAVAILABLE;
      case 8 -> ShardFault.REVISION_GONE;
      default -> throw new WireFormatException("fault " + code);
    };
  }
}
