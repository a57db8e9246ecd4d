package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
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
import java.util.NavigableSet;
import java.util.TreeSet;
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
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    completion.failed(new ShardException(ShardFault.MISSING, "holds ids only"));
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    completion.failed(new ShardException(ShardFault.FULL, "holds ids only"));
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    completion.failed(new ShardException(ShardFault.MISSING, "holds ids only"));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    completion.succeeded(drive());
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
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) {
    return blobs.stream()
        .filter(blob -> blob.session() < session)
        .filter(blob -> after == null || blob.compareTo(after) > 0)
        .sorted()
        .limit(max)
        .toList();
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max) {
    return List.of();
  }
}
