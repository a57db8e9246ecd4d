package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ObjectRecord;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunningReadsTest {
  private static final ObjectRead OBJECT =
      new ObjectRead(ObjectRecord.getDefaultInstance(), List.of());

  private final TickingClock clock = new TickingClock();

  private static final class TickingClock extends Clock {
    private long nowMs = 1000;

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(nowMs);
    }
  }

  /** Runs something in the middle of a read. */
  private static final class InRead implements ObjectStore {
    private Runnable during = () -> {};

    @Override
    public ObjectWriter newWriter(long expectedLength) {
      throw new IllegalStateException("nothing is written");
    }

    @Override
    public void read(ObjectRead object, ByteRange range, DataSink sink)
        throws DataUnavailableException {
      during.run();
      throw new DataUnavailableException(Reason.GONE, "here ends the read");
    }
  }

  @Test
  void theOldestCountsUntilItEnds() {
    InRead store = new InRead();
    RunningReads reads = new RunningReads(store, clock);
    store.during =
        () -> {
          clock.nowMs = 2000;
          store.during = () -> assertEquals(1000, reads.oldestMs());
          read(reads); // a second one
          clock.nowMs = 3000;
          assertEquals(1000, reads.oldestMs());
        };
    read(reads);
    assertEquals(3000, reads.oldestMs());
  }

  private static void read(RunningReads reads) {
    assertThrows(
        DataUnavailableException.class,
        () -> reads.read(OBJECT, new ByteRange(0, 1), ShardData::release));
  }
}
