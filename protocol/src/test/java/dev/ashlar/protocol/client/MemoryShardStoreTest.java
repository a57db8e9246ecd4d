package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.DriveId;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MemoryShardStoreTest extends AbstractShardStoreContract {
  private final MemoryShardStore memory =
      new MemoryShardStore(new DriveId(new UUID(1, 2), 1), slabs);

  @Override
  protected ShardStore newStore() {
    return memory;
  }

  @Override
  protected void close(ShardStore closing) {}

  @Test
  void switchesMakeItFail() throws Exception {
    put(SHARD, 0, new byte[10]);
    memory.corrupt(SHARD);
    assertEquals(ShardFault.CORRUPT, readFault(SHARD, 0, 1));
    memory.failAll(ShardFault.UNAVAILABLE);
    assertFalse(memory.isWritable());
    assertEquals(ShardFault.UNAVAILABLE, readFault(SHARD, 0, 1));
    memory.failAll(null);
    memory.wipe();
    assertEquals(2, memory.drive().incarnation());
    assertEquals(ShardFault.MISSING, readFault(SHARD, 0, 1));
  }

  @Test
  void heldAnswersComeWhenReleased() {
    memory.holdAnswers();
    Answer<DriveId> answer = new Answer<>();
    memory.write(shardWrite(SHARD, 0, new byte[10]), answer);
    assertFalse(answer.isDone());
    memory.releaseAnswers();
    assertTrue(answer.isDone());
  }
}
