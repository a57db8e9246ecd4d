package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Gives each test of a contract a fresh, empty store, and counts its slabs at the end. */
abstract class AbstractFreshShardStore {
  protected final SlabPool slabs = new SlabPool();
  ShardStore store = new MemoryShardStore(new DriveId(new UUID(1, 2), 1), slabs);

  /** A fresh, empty store that takes its slabs from {@link #slabs}. */
  protected abstract ShardStore newStore() throws Exception;

  protected abstract void close(ShardStore closing) throws Exception;

  @BeforeEach
  final void open() throws Exception {
    store = newStore();
  }

  @AfterEach
  final void closeAndCountSlabs() throws Exception {
    close(store);
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }
}
