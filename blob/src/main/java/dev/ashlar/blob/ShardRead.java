package dev.ashlar.blob;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A range of one shard on its way from a drive. Whoever asked gives it back with {@link #abandon},
 * whether it has arrived or not.
 */
final class ShardRead implements Completion<ShardData> {
  private final ByteRange range;
  private final CountDownLatch done = new CountDownLatch(1);
  // null while under way; then ShardData, ShardFault or ABANDONED
  private final AtomicReference<@Nullable Object> state = new AtomicReference<>();
  private static final Object ABANDONED = new Object();
  private final long askedNanos = System.nanoTime();

  /**
   * @param range of the shard, not empty
   */
  ShardRead(ByteRange range) {
    this.range = range;
  }

  @Override
  public void succeeded(ShardData data) {
    if (!state.compareAndSet(null, data)) {
      data.release();
    }
    done.countDown();
  }

  @Override
  public void failed(ShardException failure) {
    state.compareAndSet(null, failure.fault());
    done.countDown();
  }

  /** Whether the bytes are there; waits for them until so long after they were asked for. */
  boolean await(Duration deadline) throws InterruptedException {
    long left = deadline.toNanos() - (System.nanoTime() - askedNanos);
    return done.await(left, TimeUnit.NANOSECONDS) && state.get() instanceof ShardData;
  }

  /** Why it failed; a drive that did not answer in time is unavailable. */
  ShardFault fault() {
    return state.get() instanceof ShardFault fault ? fault : ShardFault.UNAVAILABLE;
  }

  boolean covers(ByteRange wanted) {
    return range.offset() <= wanted.offset() && wanted.end() <= range.end();
  }

  /** What has arrived. */
  ShardData data() {
    if (state.get() instanceof ShardData data) {
      return data;
    }
    throw new IllegalStateException("not arrived: " + range);
  }

  /** The bytes of this part of the shard. */
  ByteBuffer bytes(ByteRange part) {
    if (!covers(part)) {
      throw new IllegalArgumentException(part + " of " + range);
    }
    ByteBuffer bytes = data().bytes();
    int from = bytes.position() + (int) (part.offset() - range.offset());
    return bytes.slice(from, (int) part.length());
  }

  /**
   * @param memory in which it is held as long as others, to whom it was handed, keep it
   */
  void abandon(RequestMemory memory) {
    if (state.getAndSet(ABANDONED) instanceof ShardData data) {
      memory.holdUntilRecycled(data.slab());
      data.release();
    }
  }
}
