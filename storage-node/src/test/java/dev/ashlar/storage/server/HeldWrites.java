package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.DriveId;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A drive whose writes take effect only when they are released; everything else goes on. */
final class HeldWrites extends ForwardingShardStore {
  private final ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>();
  private volatile boolean isReleased;

  HeldWrites(ShardStore drive) {
    super(drive);
  }

  int waiting() {
    return held.size();
  }

  /** Does what was held, and holds nothing more. */
  void release() {
    isReleased = true;
    for (Runnable next = held.poll(); next != null; next = held.poll()) {
      next.run();
    }
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    held.add(() -> super.write(write, completion));
    if (isReleased) {
      release();
    }
  }
}
