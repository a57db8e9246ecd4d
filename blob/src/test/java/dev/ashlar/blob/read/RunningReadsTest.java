package dev.ashlar.blob.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ObjectRecord;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunningReadsTest {
  private static final ObjectRead OBJECT =
      new ObjectRead(ObjectRecord.getDefaultInstance(), List.of());

  private final ManualClock clock = new ManualClock(1000);

  /** Runs something in the middle of a read. */
  private static final class InRead implements ObjectStore {
    private Runnable during = () -> {};

    @Override
    public ObjectWriter newWriter(int profile, long expectedLength) {
      throw new IllegalStateException("nothing is written");
    }

    @Override
    public ObjectWriter newWriter(long expectedLength) {
      throw new IllegalStateException("nothing is written");
    }

    @Override
    public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
      throw new IllegalStateException("nothing is written");
    }

    @Override
    public Md5 newMd5() {
      throw new IllegalStateException("nothing is written");
    }

    @Override
    public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
      throw new IllegalStateException("nothing is changed");
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
          clock.setMs(2000);
          store.during = () -> assertEquals(1000, reads.oldestMs());
          read(reads); // a second one
          clock.setMs(3000);
          assertEquals(1000, reads.oldestMs());
        };
    read(reads);
    assertEquals(3000, reads.oldestMs());
  }

  @Test
  void aSlowReadIsWaitedForNoLongerThanThat() {
    InRead store = new InRead();
    RunningReads reads = new RunningReads(store, clock);
    store.during =
        () -> {
          clock.setMs(5999);
          assertEquals(999, reads.oldestMs(Duration.ofSeconds(5)));
          clock.setMs(6001);
          assertEquals(1001, reads.oldestMs(Duration.ofSeconds(5)));
          assertEquals(1000, reads.oldestMs());
        };
    read(reads);
    assertEquals(5951, reads.oldestMs(Duration.ofSeconds(5)), "reads may be about to register");
  }

  private static void read(RunningReads reads) {
    assertThrows(
        DataUnavailableException.class,
        () -> reads.read(OBJECT, new ByteRange(0, 1), ShardData::release));
  }
}
