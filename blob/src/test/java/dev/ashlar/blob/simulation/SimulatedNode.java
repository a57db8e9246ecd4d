package dev.ashlar.blob.simulation;

import dev.ashlar.protocol.client.MemoryShardStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * A storage node with one drive. What it acknowledges is on the drive; its process ends and comes
 * back, and the drive may come back empty, in another life.
 */
final class SimulatedNode {
  private final Random random;
  private final boolean skipsSyncs;
  private final List<SimulatedLink> links = new ArrayList<>();
  private MemoryShardStore store;

  /** What is left if it ends now, where syncs are skipped. */
  private MemoryShardStore synced;

  private boolean isUp = true;

  /**
   * @param skipsSyncs a planted bug: it acknowledges what is not on the drive yet
   */
  SimulatedNode(MemoryShardStore store, Random random, boolean skipsSyncs) {
    this.store = store;
    this.random = random;
    this.skipsSyncs = skipsSyncs;
    synced = skipsSyncs ? store.copy() : store;
  }

  UUID id() {
    return store.drive().id();
  }

  MemoryShardStore store() {
    return store;
  }

  boolean isUp() {
    return isUp;
  }

  void add(SimulatedLink link) {
    links.add(link);
  }

  void remove(SimulatedLink link) {
    links.remove(link);
  }

  /** It has carried something out. */
  void changed() {
    if (skipsSyncs && random.nextInt(4) == 0) {
      synced = store.copy();
    }
  }

  /** Its process ends: of what it was about to do, some is done and some is not. */
  void end() {
    isUp = false;
    List.copyOf(links).forEach(SimulatedLink::nodeEnded);
    if (skipsSyncs) {
      store = synced.copy();
    }
  }

  /** Everything that it held is gone. */
  void wipe() {
    store.wipe();
    synced = skipsSyncs ? store.copy() : store;
  }

  void start() {
    isUp = true;
  }
}
