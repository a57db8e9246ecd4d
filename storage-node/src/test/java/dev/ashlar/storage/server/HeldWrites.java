package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.Drop;
import dev.ashlar.protocol.client.Fold;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A drive whose writes take effect only when they are released; everything else goes on. */
final class HeldWrites implements ShardStore {
  private final ShardStore drive;
  private final ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>();
  private volatile boolean isReleased;

  HeldWrites(ShardStore drive) {
    this.drive = drive;
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
    held.add(() -> drive.write(write, completion));
    if (isReleased) {
      release();
    }
  }

  @Override
  public DriveId drive() {
    return drive.drive();
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return drive.writeRefusal();
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    drive.read(shard, view, offset, length, completion);
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    drive.prepare(intent, completion);
  }

  @Override
  public void fold(List<Fold> folds, Completion<DriveId> completion) {
    drive.fold(folds, completion);
  }

  @Override
  public void drop(List<Drop> drops, Completion<DriveId> completion) {
    drive.drop(drops, completion);
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    drive.delete(blobs, completion);
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return drive.blobsBelow(session, after, max);
  }

  @Override
  public List<Drop> attemptsBelow(long session, @Nullable Drop after, int max)
      throws ShardException {
    return drive.attemptsBelow(session, after, max);
  }
}
