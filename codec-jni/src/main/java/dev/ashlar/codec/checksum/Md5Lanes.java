package dev.ashlar.codec.checksum;

import dev.ashlar.codec.isal.NativeMd5;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Computes the MD5s of many messages together: the first thread that needs a result hashes all that
 * wait, up to 16 in parallel, and the others find theirs done. It has no thread of its own and does
 * not wait for more messages; those that arrive meanwhile wait for the next run.
 */
public final class Md5Lanes {
  private static final int LANES = NativeMd5.LANES;

  /** Per lane and call into C. */
  private static final int STEP_BLOCKS_MAX = (64 << 10) / NativeMd5.BLOCK_BYTES;

  /** Per lane, until others get the carrier thread: virtual threads are not preempted. */
  private static final int YIELD_BLOCKS = (256 << 10) / NativeMd5.BLOCK_BYTES;

  private final NativeMd5.@Nullable Lanes lanes;
  private final Queue<Md5> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder calls = new LongAdder();
  private final LongAdder lanesFilled = new LongAdder();

  public Md5Lanes() {
    this(NativeMd5.isAvailable());
  }

  private Md5Lanes(boolean isNative) {
    this.lanes = isNative ? new NativeMd5.Lanes() : null;
  }

  /** Without native code: each MD5 separately, by the JDK. */
  public static Md5Lanes inJava() {
    return new Md5Lanes(false);
  }

  /** Starts a message; the caller closes it. */
  public Md5 start() {
    open.incrementAndGet();
    return new Md5(this, lanes != null);
  }

  /** Whether it pays to let {@link Md5#add added} bytes wait for those of other messages. */
  public boolean hasCompany() {
    return lanes != null && open.get() > 1;
  }

  /** Number of calls into C. */
  public long calls() {
    return calls.sum();
  }

  /** Number of messages in all {@link #calls}. */
  public long lanesFilled() {
    return lanesFilled.sum();
  }

  void submit(Md5 message) {
    waiting.add(message);
  }

  void closed(Md5 message) {
    open.decrementAndGet();
    waiting.remove(message);
  }

  boolean isRunning() {
    return running.get();
  }

  /** Hashes what waits until this message is done; false if another thread does so. */
  boolean tryRun(Md5 wanted) {
    if (!running.compareAndSet(false, true)) {
      return false;
    }
    try {
      new Run(wanted, Objects.requireNonNull(lanes)).all();
    } finally {
      running.set(false);
      wakeNext();
    }
    return true;
  }

  /** Passes on a wake-up that an interrupted thread cannot follow. */
  void passOn() {
    if (!running.get()) {
      wakeNext();
    }
  }

  /** Wakes a thread that waits for bytes whose hashing has not begun, to take over. */
  private void wakeNext() {
    for (Md5 message : waiting) {
      if (message.isPending() && message.wake()) {
        return;
      }
    }
  }

  private final class Run {
    private final Md5 wanted;
    private final NativeMd5.Lanes vectors;
    private final Md5[] messages = new Md5[LANES];
    private final ByteBuffer[] data = new ByteBuffer[LANES];
    private int count;

    Run(Md5 wanted, NativeMd5.Lanes vectors) {
      this.wanted = wanted;
      this.vectors = vectors;
    }

    @SuppressWarnings("ThreadPriorityCheck")
    void all() {
      try {
        int blocks = 0;
        for (fill(); count > 0; fill()) {
          blocks += step();
          if (blocks >= YIELD_BLOCKS) {
            blocks = 0;
            Thread.yield();
          }
        }
      } finally {
        while (count > 0) {
          messages[--count].end(false);
        }
      }
    }

    /** Adds messages only until the wanted one is done, so that every run ends. */
    private void fill() {
      while (count < LANES && wanted.isPending()) {
        Md5 next = waiting.poll();
        if (next == null) {
          return;
        }
        if (next.tryStart()) {
          messages[count++] = next;
        }
      }
    }

    /** The number of blocks that all lanes have. */
    private int step() {
      int blocks = STEP_BLOCKS_MAX;
      for (int lane = count - 1; lane >= 0; lane--) {
        ByteBuffer run = messages[lane].nextRun();
        if (run == null) {
          leave(lane);
        } else {
          data[lane] = run;
          blocks = Math.min(blocks, run.remaining() / NativeMd5.BLOCK_BYTES);
        }
      }
      if (count == 0) {
        return 0;
      }
      for (int lane = 0; lane < count; lane++) {
        vectors.set(lane, messages[lane].words(), data[lane]);
      }
      vectors.update(count, blocks);
      for (int lane = 0; lane < count; lane++) {
        vectors.get(lane, messages[lane].words());
        data[lane].position(data[lane].position() + blocks * NativeMd5.BLOCK_BYTES);
      }
      calls.increment();
      lanesFilled.add(count);
      return blocks;
    }

    private void leave(int lane) {
      messages[lane].end(true);
      count--;
      messages[lane] = messages[count];
      data[lane] = data[count];
    }
  }
}
