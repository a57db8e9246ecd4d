package dev.ashlar.blob.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AbortedWriteCleanerTest {
  /** As where a connection is closed just now: it must not end what tries again. */
  @Test
  void removalsAreKeptWhenTheDriveThrows() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", 4096));
    fixture.put(new byte[100_000]);
    BlobRow row = fixture.lastBlob();
    MemoryShardStore drive = fixture.holder(1);
    UUID[] broken = {drive.drive().id()};
    AbortedWriteCleaner cleaner =
        new AbortedWriteCleaner(
            id -> {
              if (id.equals(broken[0])) {
                throw new IllegalStateException("broken");
              }
              return drive;
            },
            10);
    drive.failAll(ShardFault.OVERLOADED);
    cleaner.remove(drive, ShardId.of(row, 1).blob());
    drive.failAll(null);
    cleaner.retry();
    assertEquals(1, cleaner.waiting());
    broken[0] = new UUID(0, 0);
    cleaner.retry();
    assertEquals(0, cleaner.waiting());
    assertFalse(drive.holds(ShardId.of(row, 1)));
  }
}
