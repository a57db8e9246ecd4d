package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tracks the running reads of a store: data that was unreferenced after the oldest of them began
 * may still be needed.
 */
public final class RunningReads implements ObjectStore {
  /** Time between the lookup of an object's row and the read of its bytes. */
  private static final long REGISTERING_MS = 50;

  private final ObjectStore store;
  private final Clock clock;
  private final Set<Running> running = ConcurrentHashMap.newKeySet();

  /** Not a record: two reads that began together are different. */
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

  /** When the oldest running read began; now, if there is none. */
  public long oldestMs() {
    long oldest = clock.millis();
    for (Running read : running) {
      oldest = Math.min(oldest, read.sinceMs);
    }
    return oldest;
  }

  /**
   * The same, minus the time that reads need to register, and bounded by a maximum duration: one
   * slow client must not block work for everybody.
   */
  public long oldestMs(Duration heldMax) {
    return Math.max(oldestMs() - REGISTERING_MS, clock.millis() - heldMax.toMillis());
  }

  @Override
  public ObjectWriter newWriter(int profile, long expectedLength) {
    return store.newWriter(profile, expectedLength);
  }

  @Override
  public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
    return store.newWriterWithoutMd5(profile, expectedLength);
  }

  @Override
  public Md5 newMd5() {
    return store.newMd5();
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
