package dev.ashlar.gateway.encryption.frame;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.layout.FrameLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/** Encrypts plain bytes as consecutive frames. Used by one thread. */
public final class FrameSealer {
  private final SecretKey key;
  private final Iterator<Frame> frames;
  private final Sink out;
  private final int expectedStored;

  /** Empty until there are bytes: a request whose body does not come holds no memory. */
  private byte[] bytes = new byte[0];

  private @Nullable Frame frame;
  private int filled;

  /** Receives the stored bytes. */
  public interface Sink {
    /** Consumes the bytes before it returns. */
    void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;
  }

  /**
   * @param frames that are written, in order
   * @param expectedLength plain bytes, or -1 when unknown; sizes the buffers
   */
  public FrameSealer(SecretKey key, Iterator<Frame> frames, long expectedLength, Sink out) {
    this.key = key;
    this.frames = frames;
    this.out = out;
    boolean isShort = expectedLength >= 0 && expectedLength < FrameLayout.PLAIN_BYTES;
    this.expectedStored = storedLength(isShort ? (int) expectedLength : FrameLayout.PLAIN_BYTES);
  }

  /** The same for a new run, which ends where the bytes end. */
  public static FrameSealer ofNewRun(SecretKey key, ByteString run, long expectedLength, Sink out) {
    Iterator<Frame> frames =
        new Iterator<>() {
          private long number;

          @Override
          public boolean hasNext() {
            return true;
          }

          @Override
          public Frame next() {
            return Frame.ofNewRun(run, number++);
          }
        };
    return new FrameSealer(key, frames, expectedLength, out);
  }

  private static int storedLength(int plainLength) {
    return FrameLayout.NONCE_BYTES + plainLength + FrameLayout.TAG_BYTES;
  }

  /** Appends plain bytes; all of them are consumed before it returns. */
  public void write(ByteBuffer plain) throws DataUnavailableException, InterruptedException {
    while (plain.hasRemaining()) {
      Frame current = frame;
      if (current == null) {
        current = frames.next();
        frame = current;
      }
      int count = Math.min(current.plainLength() - filled, plain.remaining());
      makeRoom(filled + count);
      plain.get(bytes, FrameLayout.NONCE_BYTES + filled, count);
      filled += count;
      if (filled == current.plainLength()) {
        seal(current);
      }
    }
  }

  /** Writes the bytes that fill no frame as a frame of their own. */
  public void finish() throws DataUnavailableException, InterruptedException {
    if (frame != null) {
      seal(frame.cutTo(filled));
    }
  }

  private void makeRoom(int length) {
    int needed = storedLength(length);
    if (needed > bytes.length) {
      boolean isExpected = needed <= expectedStored;
      bytes = Arrays.copyOf(bytes, isExpected ? expectedStored : FrameLayout.FRAME_BYTES);
    }
  }

  private void seal(Frame full) throws DataUnavailableException, InterruptedException {
    FrameCipher cipher = FrameCipher.take();
    try {
      cipher.seal(key, full, bytes);
    } finally {
      cipher.giveBack();
    }
    frame = null;
    filled = 0;
    out.write(ByteBuffer.wrap(bytes, 0, full.storedLength()));
  }
}
