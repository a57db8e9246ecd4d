package dev.ashlar.codec.checksum;

import dev.ashlar.codec.isal.NativeMd5;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The MD5 of one message, computed together with those of other messages: bytes {@link #add added}
 * wait until a thread needs a result, which then hashes all that wait (see {@link Md5Lanes}). Used
 * by one thread.
 */
public final class Md5 implements AutoCloseable {
  private static final int BLOCK_BYTES = NativeMd5.BLOCK_BYTES;

  /** A message up to this length does not wait for others. */
  private static final int ALONE_BYTES_MAX = 16 << 10;

  private enum State {
    IDLE,
    WAITING,
    /** Owned by the thread that runs the lanes. */
    RUNNING,
    BROKEN
  }

  private final Md5Lanes lanes;
  private final @Nullable MessageDigest inJava;
  private final int[] words = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  private final ByteBuffer tail =
      ByteBuffer.allocate(2 * BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
  private final ArrayDeque<ByteBuffer> runs = new ArrayDeque<>();
  private Runnable whenHashed = () -> {};
  private volatile @Nullable Thread waiter;
  private long length;
  private boolean isClosed;

  Md5(Md5Lanes lanes, boolean isNative) {
    this.lanes = lanes;
    this.inJava = isNative ? null : messageDigest();
  }

  private static MessageDigest messageDigest() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has MD5", e);
    }
  }

  /**
   * Appends direct buffers, from position to limit. Waits for those added before. Unless it throws,
   * the memory must not change until {@code hashed} runs, once, on any thread.
   */
  public void add(List<ByteBuffer> pieces, Runnable hashed) throws InterruptedException {
    for (ByteBuffer piece : pieces) {
      if (!piece.isDirect()) {
        throw new IllegalArgumentException("MD5 needs direct buffers");
      }
    }
    await();
    if (isClosed) {
      throw new IllegalStateException("closed");
    }
    MessageDigest digest = inJava;
    if (digest != null) {
      pieces.forEach(piece -> digest.update(piece.duplicate()));
      hashed.run();
      return;
    }
    long before = length;
    pieces.forEach(this::addRuns);
    if (length - before <= ALONE_BYTES_MAX) {
      runs.forEach(run -> NativeMd5.update(words, run));
      runs.clear();
      hashed.run();
    } else {
      whenHashed = hashed;
      state.set(State.WAITING);
      lanes.submit(this);
    }
  }

  /** Splits into whole blocks and a rest, which is kept and precedes the next buffer. */
  private void addRuns(ByteBuffer bytes) {
    ByteBuffer piece = bytes.duplicate();
    length += piece.remaining();
    if (tail.position() > 0) {
      int missing = Math.min(BLOCK_BYTES - tail.position(), piece.remaining());
      tail.put(piece.slice(piece.position(), missing));
      piece.position(piece.position() + missing);
      if (tail.position() == BLOCK_BYTES) {
        runs.add(ByteBuffer.allocateDirect(BLOCK_BYTES).put(tail.flip()).flip());
        tail.clear();
      }
    }
    int whole = piece.remaining() / BLOCK_BYTES * BLOCK_BYTES;
    if (whole > 0) {
      runs.add(piece.slice(piece.position(), whole));
    }
    tail.put(piece.position(piece.position() + whole));
  }

  /** Makes sure that all that was added is hashed, by this thread or another one. */
  public void await() throws InterruptedException {
    while (state.get() != State.IDLE) {
      if (state.get() == State.BROKEN) {
        throw new IllegalStateException("the thread that computed this MD5 failed");
      }
      if (!lanes.tryRun(this)) {
        park();
      }
    }
  }

  private void park() throws InterruptedException {
    waiter = Thread.currentThread();
    try {
      while (isPending() && lanes.isRunning()) {
        LockSupport.park(this);
        if (Thread.interrupted()) {
          waiter = null;
          lanes.passOn();
          throw new InterruptedException();
        }
      }
    } finally {
      waiter = null;
    }
  }

  /** Whether other messages are open, so that it pays to let added bytes wait for theirs. */
  public boolean hasCompany() {
    return lanes.hasCompany();
  }

  /** The MD5 of all bytes added; ends the use of this object. */
  public byte[] digest() throws InterruptedException {
    await();
    if (inJava != null) {
      return inJava.digest();
    }
    tail.put((byte) 0x80);
    int end = tail.position() + Long.BYTES > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES;
    while (tail.position() < end - Long.BYTES) {
      tail.put((byte) 0);
    }
    tail.putLong(Byte.SIZE * length);
    byte[] last = new byte[end];
    tail.flip().get(last);
    NativeMd5.end(words, last);
    ByteBuffer digest = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
    digest.asIntBuffer().put(words);
    return digest.array();
  }

  /** Abandons the result. Memory that is being read is released afterwards. */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    lanes.closed(this);
    if (state.compareAndSet(State.WAITING, State.IDLE)) {
      giveBack();
    }
  }

  boolean isPending() {
    State now = state.get();
    return now == State.WAITING || now == State.RUNNING;
  }

  boolean tryStart() {
    return state.compareAndSet(State.WAITING, State.RUNNING);
  }

  /** The state's words; for the thread that runs the lanes. */
  int[] words() {
    return words;
  }

  /** The next buffer, null when all are hashed; for the thread that runs the lanes. */
  @Nullable ByteBuffer nextRun() {
    ByteBuffer run = runs.peek();
    while (run != null && !run.hasRemaining()) {
      runs.remove();
      run = runs.peek();
    }
    return run;
  }

  /** Called when the thread that runs the lanes is done with the message, or has failed. */
  void end(boolean isHashed) {
    giveBack();
    state.set(isHashed ? State.IDLE : State.BROKEN);
    wake();
  }

  private void giveBack() {
    runs.clear();
    Runnable told = whenHashed;
    whenHashed = () -> {};
    told.run();
  }

  /** Whether a thread waits for the result. */
  boolean wake() {
    Thread thread = waiter;
    LockSupport.unpark(thread);
    return thread != null;
  }
}
