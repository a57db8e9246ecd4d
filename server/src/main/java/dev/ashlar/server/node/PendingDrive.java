package dev.ashlar.server.node;

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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A drive that is not there yet, and may come while the others of its node are served: gateways are
 * told of it when they connect, and that it takes nothing. When it has come it is that drive.
 */
final class PendingDrive implements ShardStore {
  private volatile DriveId known;
  private volatile @Nullable ShardStore there;

  /**
   * @param known in the life that metadata knows. Gateways take none for it that is older, and
   *     later none that is older than this: it may come as what it was
   */
  PendingDrive(DriveId known) {
    this.known = known;
  }

  /** From now on this is the life that metadata knows. */
  void isKnownAs(DriveId newer) {
    check(newer);
    known = newer;
  }

  private void check(DriveId drive) {
    if (!drive.id().equals(known.id())) {
      throw new IllegalArgumentException(drive + " is not " + known);
    }
  }

  /**
   * From now on it is this one.
   *
   * @param drive in a life that metadata knows
   */
  void come(ShardStore drive) {
    check(drive.drive());
    there = drive;
  }

  boolean isThere() {
    return there != null;
  }

  @Override
  public DriveId drive() {
    ShardStore drive = there;
    return drive == null ? known : drive.drive();
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    ShardStore drive = there;
    return drive == null ? ShardFault.UNAVAILABLE : drive.writeRefusal();
  }

  private ShardException absence() {
    return new ShardException(ShardFault.UNAVAILABLE, known.id() + " is not there yet");
  }

  private ShardStore present() throws ShardException {
    ShardStore drive = there;
    if (drive == null) {
      throw absence();
    }
    return drive;
  }

  private void ask(Completion<?> completion, Consumer<ShardStore> operation) {
    ShardStore drive = there;
    if (drive == null) {
      completion.failed(absence());
    } else {
      operation.accept(drive);
    }
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    ask(completion, drive -> drive.write(write, completion));
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    ask(completion, drive -> drive.read(shard, view, offset, length, completion));
  }

  @Override
  public @Nullable ShardData readCached(ShardId shard, ShardView view, long offset, int length) {
    ShardStore drive = there;
    return drive == null ? null : drive.readCached(shard, view, offset, length);
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    ask(completion, drive -> drive.prepare(intent, completion));
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    ask(completion, drive -> drive.fold(folds, completion));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    ask(completion, drive -> drive.drop(drops, completion));
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    ask(completion, drive -> drive.delete(blobs, completion));
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return present().blobsBelow(session, after, max);
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return present().attemptsBelow(session, after, max);
  }
}
