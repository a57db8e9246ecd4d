package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A drive that does what another does, but for what a test overrides. */
public abstract class ForwardingShardStore implements ShardStore {
  private final ShardStore drive;

  protected ForwardingShardStore(ShardStore drive) {
    this.drive = drive;
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
  public void write(ShardWrite write, Completion<DriveId> completion) {
    drive.write(write, completion);
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
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    drive.fold(folds, completion);
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
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
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return drive.attemptsBelow(session, after, max);
  }
}
