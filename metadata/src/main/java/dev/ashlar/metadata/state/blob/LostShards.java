package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.Map;
import java.util.SortedSet;

/** Records shards that were found damaged or missing on drives that otherwise work. */
public final class LostShards {
  private LostShards() {}

  /**
   * Each shard must still be what was looked for: in the same slot and last state, on the slot's
   * drive in the same incarnation. Shards already in debt are skipped.
   */
  public static CommandResult record(ApplyContext context, RecordLostShards command) {
    BlobRow row = Blobs.find(context, command.getBlob()).orElse(BlobRow.getDefaultInstance());
    require(row.getReferences() > 0, ResultCode.CONDITIONAL_CONFLICT);
    StripeLayout layout = Debts.layout(row);
    SortedSet<Integer> debts = Debts.slots(context, row);
    for (LostShard shard : command.getShardsList()) {
      int slot = shard.getDrive().getSlot();
      require(
          slot >= 0 && slot < layout.profile().shards() && layout.shardLength(slot) > 0,
          ResultCode.INVALID_COMMAND);
      if (!debts.contains(slot)) {
        require(isPresent(context, row, shard), ResultCode.CONDITIONAL_CONFLICT);
        // Often only a few blocks are damaged: the rest of the shard may be needed to decode
        // others.
        require(debts.size() < layout.profile().parityShards(), ResultCode.NOT_DURABLE);
        debts.add(slot);
      }
    }
    if (debts.size() > row.getDebtSlotsCount()) {
      Blobs.write(context, row, RelocatedShards.settled(context, row, row, debts, Map.of()));
    }
    return ApplyContext.OK;
  }

  private static boolean isPresent(ApplyContext context, BlobRow row, LostShard shard) {
    int slot = shard.getDrive().getSlot();
    return Acknowledgements.isHeld(
            context, context.placement().location(row, slot), shard.getDrive())
        && ShardId.name(row, slot).equals(BlobId.of(shard.getName()))
        && Repairs.lastChange(row, slot) == shard.getLastChange();
  }
}
