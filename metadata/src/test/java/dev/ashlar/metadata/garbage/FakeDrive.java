package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A drive that knows only which blobs it holds. */
final class FakeDrive implements ShardStore {
  private final DriveId id;
  private final NavigableSet<BlobId> blobs = new TreeSet<>();
  private boolean failing;

  FakeDrive(DriveId id) {
    this.id = id;
  }

  NavigableSet<BlobId> blobs() {
    return blobs;
  }

  void setFailing(boolean failing) {
    this.failing = failing;
  }

  @Override
  public DriveId drive() {
    return id;
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return failing ? ShardFault.READ_ONLY : null;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    completion.failed(new ShardException(ShardFault.FULL, "holds ids only"));
  }

  @Override
  public void read(ShardId shard, long offset, int length, Completion<ShardData> completion) {
    completion.failed(new ShardException(ShardFault.MISSING, "holds ids only"));
  }

  @Override
  public void delete(List<BlobId> ids, Completion<DriveId> completion) {
    if (failing) {
      completion.failed(new ShardException(ShardFault.IO_ERROR, "failing"));
    } else {
      ids.forEach(blobs::remove);
      completion.succeeded(drive());
    }
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) {
    List.copyOf(blobs).stream().filter(blob -> blob.session() < session).forEach(visitor);
  }
}
