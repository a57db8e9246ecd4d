package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.DriveId;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** When it has come it is like any drive. */
class PendingDriveTest extends AbstractShardStoreContract {
  private static final UUID ID = new UUID(1, 2);

  private final PendingDrive late = new PendingDrive(new DriveId(ID, 5));

  @Override
  protected ShardStore newStore() {
    PendingDrive come = new PendingDrive(new DriveId(ID, 5));
    come.come(new MemoryShardStore(new DriveId(ID, 7), slabs));
    return come;
  }

  @Override
  protected void close(ShardStore closing) {}

  @Test
  void untilItComesItDoesNothing() {
    assertFalse(late.isThere());
    assertEquals(5, late.drive().incarnation());
    assertEquals(ShardFault.UNAVAILABLE, late.writeRefusal());
    assertNull(late.readCached(SHARD, ShardView.ORIGINAL, 0, 1));
    Answer<DriveId> answer = new Answer<>();
    late.delete(List.of(SHARD.blob()), answer);
    assertTrue(answer.isDone());
    ShardException refusal =
        assertThrows(ShardException.class, () -> late.blobsBelow(Long.MAX_VALUE, null, 1));
    assertEquals(ShardFault.UNAVAILABLE, refusal.fault());
    late.isKnownAs(new DriveId(ID, 6));
    assertEquals(6, late.drive().incarnation());
    late.come(new MemoryShardStore(new DriveId(ID, 7), slabs));
    assertTrue(late.isThere() && late.isWritable());
    assertEquals(7, late.drive().incarnation());
  }

  @Test
  void itIsThatDriveAndNoOther() {
    MemoryShardStore other = new MemoryShardStore(new DriveId(new UUID(1, 3), 9), slabs);
    assertThrows(IllegalArgumentException.class, () -> late.come(other));
  }
}
