package dev.ashlar.blob.simulation;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import java.util.List;

/** A drive of another process, of which one that is dead changes nothing any more. */
final class OfLiving extends ForwardingShardStore {
  private final SimulatedProcess asking;

  OfLiving(ShardStore drive, SimulatedProcess asking) {
    super(drive);
    this.asking = asking;
  }

  private void ifAlive(Completion<DriveId> completion, Runnable request) {
    if (asking.isDead()) {
      completion.failed(new ShardException(ShardFault.UNAVAILABLE, "nobody asks"));
    } else {
      request.run();
    }
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    ifAlive(completion, () -> super.write(write, completion));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    ifAlive(completion, () -> super.drop(drops, completion));
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    ifAlive(completion, () -> super.delete(blobs, completion));
  }
}
