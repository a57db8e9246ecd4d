package dev.ashlar.blob.read;

import dev.ashlar.blob.DataSink;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows since when the reads of a store run: what was unreferenced after the oldest of them began
 * may still be needed by it.
 */
public final class RunningReads implements ObjectStore {
  /** From the look-up of an object's row to the read of its bytes. */
  private static final long REGISTERING_MS = 50;

  private final ObjectStore store;
  private final Clock clock;
  private final Set<Running> running = ConcurrentHashMap.newKeySet();

  /** Not a record: two that began together are two. */
  private static final class Running {
    private final long sinceMs;

    Running(long sinceMs) {
      this.sinceMs = sinceMs;
    }
  }

  public RunningReads(ObjectStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
  }

  /** When the oldest running read began; now, when there is none. */
  public long oldestMs() {
    long oldest = clock.millis();
    for (Running read : running) {
      oldest = Math.min(oldest, read.sinceMs);
    }
    return oldest;
  }

  /**
   * The same, with time for reads that know what they read but are not registered yet, for what
   * need not wait for reads that have been running for longer than that: one slow client would hold
   * it up for everybody.
   */
  public long oldestMs(Duration heldMax) {
    return Math.max(oldestMs() - REGISTERING_MS, clock.millis() - heldMax.toMillis());
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return store.newWriter(expectedLength);
  }

  @Override
  public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
    return store.newChange(object, offset, expectedLength);
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    Running read = new Running(clock.millis());
    running.add(read);
    try {
      store.read(object, range, sink);
    } finally {
      running.remove(read);
    }
  }
}
