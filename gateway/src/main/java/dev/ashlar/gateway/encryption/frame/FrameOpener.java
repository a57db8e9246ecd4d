package dev.ashlar.gateway.encryption.frame;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Iterator;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Makes plain bytes of the stored bytes of an encrypted object. It collects the pieces of a frame,
 * and hands on its plain bytes, in the memory of these pieces, once the whole frame is verified.
 * Used by one thread.
 */
public final class FrameOpener {
  private final SecretKey key;
  private final Iterator<Frame> frames;
  private final ByteRange range;
  private final ObjectStore.DataSink out;
  private final ArrayDeque<ShardData> pending = new ArrayDeque<>();
  private @Nullable Frame frame;
  private int pendingBytes;

  /** With the plain bytes of the frame that was opened last. */
  private @Nullable FrameCipher used;

  private FrameOpener(SecretKey key, RunMap runs, ByteRange range, ObjectStore.DataSink out) {
    this.key = key;
    this.frames = runs.framesFrom(range.offset());
    this.range = range;
    this.out = out;
  }

  /**
   * Reads a range of plain bytes in order. The sink receives no byte of a frame that is not whole
   * and unchanged.
   *
   * @param key the data key of the object
   * @param range within the object's size
   * @throws DataUnavailableException with {@link Reason#DAMAGED} at such a frame
   */
  public static void read(
      ObjectStore store,
      ObjectRead object,
      SecretKey key,
      ByteRange range,
      ObjectStore.DataSink out)
      throws DataUnavailableException, InterruptedException {
    RunMap runs = RunMap.of(object.object());
    FrameOpener opener = new FrameOpener(key, runs, range, out);
    try {
      store.read(object, runs.stored(range), opener::accept);
    } finally {
      opener.pending.forEach(ShardData::release);
      opener.use(null);
    }
  }

  /** Leaves plain bytes in one cipher at most. */
  private void use(@Nullable FrameCipher cipher) {
    if (used != null && used != cipher) {
      used.forget();
    }
    used = cipher;
  }

  private void accept(ShardData piece) throws DataUnavailableException, InterruptedException {
    try {
      ByteBuffer bytes = piece.bytes();
      while (bytes.hasRemaining()) {
        Frame current = frame == null ? frames.next() : frame;
        frame = current;
        int count = Math.min(current.storedLength() - pendingBytes, bytes.remaining());
        pending.add(new ShardData(piece.slab().retain(), bytes.slice(bytes.position(), count)));
        pendingBytes += count;
        bytes.position(bytes.position() + count);
        if (pendingBytes == current.storedLength()) {
          open(current);
        }
      }
    } finally {
      piece.release();
    }
  }

  private void open(Frame whole) throws DataUnavailableException, InterruptedException {
    int from = (int) Math.max(0, range.offset() - whole.plainOffset());
    int to = (int) Math.min(whole.plainLength(), range.end() - whole.plainOffset());
    FrameCipher cipher = FrameCipher.take();
    use(cipher);
    try {
      int at = 0;
      for (ShardData piece : pending) {
        int count = piece.bytes().remaining();
        piece.bytes().get(0, cipher.stored(), at, count);
        at += count;
      }
      if (!cipher.open(key, whole)) {
        throw damaged(whole);
      }
      keepPlain(cipher.plain(), from, to);
    } finally {
      cipher.giveBack();
    }
    while (!pending.isEmpty()) {
      out.accept(pending.remove());
    }
    pendingBytes = 0;
    frame = null;
  }

  /** Puts plain bytes in place of the stored ones, and gives back what is not needed for that. */
  private void keepPlain(byte[] plain, int from, int to) {
    int pieces = pending.size();
    for (int at = from; pieces > 0; pieces--) {
      ShardData piece = pending.remove();
      int count = Math.min(to - at, piece.bytes().remaining());
      if (count == 0) {
        piece.release();
      } else {
        pending.add(
            new ShardData(piece.slab(), piece.bytes().slice(0, count).put(0, plain, at, count)));
        at += count;
      }
    }
  }

  private static DataUnavailableException damaged(Frame frame) {
    return new DataUnavailableException(
        Reason.DAMAGED,
        "Frame "
            + frame.number()
            + " of an encrypted object, at its byte "
            + frame.plainOffset()
            + ", is damaged: its tag is wrong");
  }
}
