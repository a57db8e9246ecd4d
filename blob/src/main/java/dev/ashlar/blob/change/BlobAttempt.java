package dev.ashlar.blob.change;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;

/**
 * An attempt to change a blob.
 *
 * @param base the row of the blob when the attempt began
 */
record BlobAttempt(BlobRow base, AttemptId id) {
  BlobId blob() {
    return BlobId.of(base.getId());
  }

  Profile profile() {
    return Profile.of(base.getProfile());
  }

  StripeLayout layout() {
    return BlobRows.layout(base);
  }

  /** The target of intents for this slot's shard. */
  ShardIntent.Target target(int slot) {
    return new ShardIntent.Target(
        ShardId.of(base, slot), id, BlobRows.view(base, slot), layout().shardLength(slot));
  }
}
