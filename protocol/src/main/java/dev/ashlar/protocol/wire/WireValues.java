package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The values that messages consist of. Every count is checked before memory is allocated. */
final class WireValues {
  private static final int ID_BYTES = 2 * Long.BYTES;

  static final Layout<BlobId> BLOB =
      new Layout<>(
          ID_BYTES,
          (out, blob) -> out.putLong(blob.session()).putLong(blob.sequence()),
          in -> new BlobId(in.getLong(), in.getLong()));
  static final Layout<AttemptId> ATTEMPT =
      new Layout<>(
          ID_BYTES,
          (out, attempt) -> out.putLong(attempt.session()).putLong(attempt.sequence()),
          in -> new AttemptId(in.getLong(), in.getLong()));
  static final Layout<ShardId> SHARD =
      new Layout<>(
          BLOB.bytes() + 1,
          (out, shard) -> {
            BLOB.put(out, shard.blob());
            out.put((byte) shard.slot());
          },
          in -> new ShardId(BLOB.take(in), Byte.toUnsignedInt(in.get())));
  static final Layout<DiscardIntent> DISCARD =
      new Layout<>(
          BLOB.bytes() + ATTEMPT.bytes(),
          (out, discard) -> {
            BLOB.put(out, discard.blob());
            ATTEMPT.put(out, discard.attempt());
          },
          in -> new DiscardIntent(BLOB.take(in), ATTEMPT.take(in)));
  static final Layout<FoldIntent> FOLD =
      new Layout<>(
          SHARD.bytes() + ATTEMPT.bytes() + 2 * Long.BYTES,
          (out, fold) -> {
            SHARD.put(out, fold.shard());
            ATTEMPT.put(out, fold.attempt());
            out.putLong(fold.revision()).putLong(fold.after());
          },
          in -> new FoldIntent(SHARD.take(in), ATTEMPT.take(in), in.getLong(), in.getLong()));
  private static final Layout<CommittedAttempt> COMMITTED =
      new Layout<>(
          ATTEMPT.bytes() + Long.BYTES,
          (out, committed) -> {
            ATTEMPT.put(out, committed.attempt());
            out.putLong(committed.revision());
          },
          in -> new CommittedAttempt(ATTEMPT.take(in), in.getLong()));
  static final Layout<UUID> UUIDS =
      new Layout<>(
          2 * Long.BYTES,
          (out, uuid) ->
              out.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits()),
          in -> new UUID(in.getLong(), in.getLong()));

  /** The index is the number on the wire, which never changes; null: no fault. */
  private static final List<@Nullable ShardFault> FAULTS =
      Arrays.asList(
          null,
          ShardFault.MISSING,
          ShardFault.CORRUPT,
          ShardFault.IO_ERROR,
          ShardFault.READ_ONLY,
          ShardFault.FULL,
          ShardFault.OVERLOADED,
          ShardFault.UNAVAILABLE,
          ShardFault.REVISION_GONE);

  private WireValues() {}

  /** Takes a value off a buffer. */
  interface Taker<T> {
    T take(ByteBuffer in) throws WireFormatException;
  }

  /**
   * How a value is laid out, alone, in a list or as an option.
   *
   * @param bytes of one value
   */
  record Layout<T>(int bytes, BiConsumer<ByteBuffer, T> putter, Taker<T> taker) {
    void put(ByteBuffer out, T value) {
      putter.accept(out, value);
    }

    T take(ByteBuffer in) throws WireFormatException {
      return taker.take(in);
    }

    int listBytes(List<T> list) {
      return Short.BYTES + list.size() * bytes;
    }

    void putList(ByteBuffer out, List<T> list) {
      out.putShort((short) list.size());
      for (T value : list) {
        put(out, value);
      }
    }

    List<T> takeList(ByteBuffer in) throws WireFormatException {
      return WireValues.takeList(in, bytes, taker);
    }

    int optionBytes(@Nullable T value) {
      return 1 + (value == null ? 0 : bytes);
    }

    void putOption(ByteBuffer out, @Nullable T value) {
      out.put((byte) (value == null ? 0 : 1));
      if (value != null) {
        put(out, value);
      }
    }

    @Nullable T takeOption(ByteBuffer in) throws WireFormatException {
      return in.get() == 0 ? null : take(in);
    }
  }

  /** Takes as many values as a two-byte count says, each of at least so many bytes. */
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

  static int bytes(ShardView view) {
    return 2 * Long.BYTES + COMMITTED.listBytes(view.unfolded());
  }

  static void putView(ByteBuffer out, ShardView view) {
    out.putLong(view.revision()).putLong(view.folded());
    COMMITTED.putList(out, view.unfolded());
  }

  static ShardView takeView(ByteBuffer in) throws WireFormatException {
    long revision = in.getLong();
    long folded = in.getLong();
    List<CommittedAttempt> unfolded = COMMITTED.takeList(in);
    boolean isOriginal = revision == 0 && folded == 0 && unfolded.isEmpty();
    return isOriginal ? ShardView.ORIGINAL : new ShardView(revision, folded, unfolded);
  }

  static int bytes(ShardIntent.Target target) {
    return SHARD.bytes() + ATTEMPT.bytes() + bytes(target.base()) + Long.BYTES;
  }

  static void putTarget(ByteBuffer out, ShardIntent.Target target) {
    SHARD.put(out, target.shard());
    ATTEMPT.put(out, target.attempt());
    putView(out, target.base());
    out.putLong(target.baseLength());
  }

  static ShardIntent.Target takeTarget(ByteBuffer in) throws WireFormatException {
    return new ShardIntent.Target(SHARD.take(in), ATTEMPT.take(in), takeView(in), in.getLong());
  }

  static byte[] takeBytes(ByteBuffer in, int count) {
    byte[] bytes = new byte[count];
    in.get(bytes);
    return bytes;
  }

  /** Takes the rest as text. It will be logged, so line breaks and other controls are replaced. */
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

  static byte code(@Nullable ShardFault fault) {
    return (byte) FAULTS.indexOf(fault);
  }

  static @Nullable ShardFault fault(byte code) throws WireFormatException {
    if (code < 0 || code >= FAULTS.size()) {
      throw new WireFormatException("fault " + code);
    }
    return FAULTS.get(code);
  }
}
