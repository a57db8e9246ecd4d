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
 * Where the MD5s of many messages meet: the thread that needs one first runs all that wait, up to
 * 16 abreast, and the others find theirs done. There is no thread of its own and no waiting for
 * company; what comes meanwhile waits for the next run.
 */
public final class Md5Lanes {
  private static final int LANES = NativeMd5.LANES;

  /** Per lane and call into C. */
  private static final int STEP_BLOCKS_MAX = (64 << 10) / NativeMd5.BLOCK_BYTES;

  /** Per lane. Virtual threads are not preempted: after so much, others get the carrier thread. */
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

  /** Without native code: every MD5 on its own, by the JDK. */
  public static Md5Lanes inJava() {
    return new Md5Lanes(false);
  }

  /** For one message; to be closed. */
  public Md5 start() {
    open.incrementAndGet();
    return new Md5(this, lanes != null);
  }

  /** Whether it pays to let {@link Md5#add added} bytes wait for those of others. */
  public boolean hasCompany() {
    return lanes != null && open.get() > 1;
  }

  /** Calls into C. */
  public long calls() {
    return calls.sum();
  }

  /** Messages of all {@link #calls}. */
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

  /** Hashes what waits until this one is done; false if another thread is at it. */
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

  /** A thread that may have been woken to take over does not. */
  void passOn() {
    if (!running.get()) {
      wakeNext();
    }
  }

  /** Somebody who waits for bytes that nobody has begun with takes over. */
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

    /** Brings in others as long as the wanted one is not done, so that no run goes on for ever. */
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

    /** As far as the shortest goes. */
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
