package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.RebuiltShard;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SettleDrive;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;

/** Records debts of replaced drives, lost shards and repaired shards. */
public final class Repairs {
  private Repairs() {}

  public static CommandResult recordDebts(ApplyContext context, RecordDebts command) {
    for (BlobIdValue id : command.getBlobsList()) {
      Optional<BlobRow> row = Blobs.find(context, id);
      if (row.isPresent() && row.get().getReferences() > 0) {
        BlobRow noted =
            RelocatedShards.settled(
                context, row.get(), row.get(), Debts.slots(context, row.get()), Map.of());
        Blobs.write(context, row.get(), noted);
      }
    }
    return ApplyContext.OK;
  }

  /** Marks the drive settled, unless it has changed again since its debts were recorded. */
  public static CommandResult settleDrive(ApplyContext context, SettleDrive command) {
    UUID id = new UUID(command.getDriveHigh(), command.getDriveLow());
    DriveRow drive = require(context.drive(id), ResultCode.INVALID_COMMAND);
    if (drive.getUnsettled()
        && drive.getIncarnation() == command.getIncarnation()
        && drive.getChangedAt() <= command.getChangedAt()) {
      context.put(drive.toBuilder().setUnsettled(false).build());
    }
    return ApplyContext.OK;
  }

  /**
   * Records repaired and moved shards. Each must have been made from the present state of its slot:
   * no change and no other repair may have happened since.
   */
  public static CommandResult repair(ApplyContext context, RepairBlob command) {
    BlobRow row = Blobs.find(context, command.getBlob()).orElse(BlobRow.getDefaultInstance());
    require(row.getReferences() > 0, ResultCode.CONDITIONAL_CONFLICT);
    SortedSet<Integer> debts = Debts.slots(context, row);
    Set<Integer> moving = RelocatedShards.moving(context, row, debts);
    Map<Integer, UUID> placed = new HashMap<>();
    BlobRow repaired = row;
    for (RepairedShard shard : command.getShardsList()) {
      int slot = shard.getAck().getSlot();
      require(slot >= 0 && slot < shards(row), ResultCode.INVALID_COMMAND);
      if (isDone(row, shard) && !debts.contains(slot) && !moving.contains(slot)) {
        continue;
      }
      check(context, row, shard);
      require(debts.remove(slot) || moving.remove(slot), ResultCode.CONDITIONAL_CONFLICT);
      placed.put(slot, context.placement().drive(row.getPg(), slot));
      if (!shard.getName().equals(shard.getNameBefore())) { // otherwise the old shard was intact
        repaired = withNamesOfEmptySlots(context, withShard(context, repaired, shard), shard);
      }
    }
    require(RelocatedShards.isSpread(context, row, debts, placed), ResultCode.CONDITIONAL_CONFLICT);
    rename(context, row, repaired);
    Blobs.write(context, row, RelocatedShards.settled(context, row, repaired, debts, placed));
    return ApplyContext.OK;
  }

  private static int shards(BlobRow row) {
    return Profile.of(row.getProfile()).shards();
  }

  private static boolean isDone(BlobRow row, RepairedShard shard) {
    return ShardId.name(row, shard.getAck().getSlot()).equals(BlobId.of(shard.getName()));
  }

  private static void check(ApplyContext context, BlobRow row, RepairedShard shard) {
    int slot = shard.getAck().getSlot();
    boolean isRenamed = !shard.getName().equals(shard.getNameBefore());
    require(
        !isRenamed || context.sessions().isLive(shard.getName().getSession()),
        ResultCode.DEAD_SESSION);
    require(
        Acknowledgements.isHeld(
                context, context.placement().drive(row.getPg(), slot), shard.getAck())
            && ShardId.name(row, slot).equals(BlobId.of(shard.getNameBefore()))
            && lastChange(row, slot) == shard.getLastChange()
            && (isRenamed || !isTouched(row, slot)),
        ResultCode.CONDITIONAL_CONFLICT);
    require(!isRenamed || isFree(context, BlobId.of(shard.getName())), ResultCode.INVALID_COMMAND);
  }

  /**
   * Whether an unfolded change touches the slot. A shard found on the drive then may have the
   * change in part only, or may miss its fold.
   */
  private static boolean isTouched(BlobRow row, int slot) {
    return row.getAttemptsList().stream()
        .anyMatch(attempt -> attempt.getSlotsList().contains(slot));
  }

  /** Whether no blob or shard has this name. */
  private static boolean isFree(ApplyContext context, BlobId name) {
    return Debts.blobNamed(context.table(), name) == null
        && Blobs.key(context, name).map(context.table()::get).isEmpty();
  }

  /** The last revision that touched the slot, folded or not. */
  public static long lastChange(BlobRow row, int slot) {
    long last = row.getFoldedCount() == 0 ? 0 : row.getFolded(slot);
    for (AttemptRow attempt : row.getAttemptsList()) {
      last = attempt.getSlotsList().contains(slot) ? attempt.getRevision() : last;
    }
    return last;
  }

  private static BlobRow withShard(ApplyContext context, BlobRow row, RepairedShard shard) {
    int slot = shard.getAck().getSlot();
    // The new shard includes unfolded changes of the slot.
    BlobRow.Builder changed = named(context, row, slot, shard.getName()).toBuilder();
    changed.clearAttempts();
    row.getAttemptsList().forEach(attempt -> changed.addAttempts(without(attempt, slot)));
    if (row.getFoldedCount() > 0) {
      changed.setFolded(slot, 0);
    }
    return changed.build();
  }

  private static BlobRow named(ApplyContext context, BlobRow row, int slot, BlobIdValue name) {
    List<RebuiltShard> rebuilt = new ArrayList<>(row.getRebuiltList());
    rebuilt.removeIf(each -> each.getSlot() == slot);
    rebuilt.add(
        RebuiltShard.newBuilder()
            .setSlot(slot)
            .setName(name)
            .setPosition(context.freshId())
            .build());
    rebuilt.sort(Comparator.comparing(RebuiltShard::getSlot));
    return row.toBuilder().clearRebuilt().addAllRebuilt(rebuilt).build();
  }

  /**
   * The shard with the old name will be removed from its drive at any time. A slot without bytes
   * may be given to that drive, and its shard must not have the same name.
   */
  private static BlobRow withNamesOfEmptySlots(
      ApplyContext context, BlobRow row, RepairedShard shard) {
    StripeLayout layout = Debts.layout(row);
    BlobRow named = row;
    for (int slot = 0; slot < layout.profile().shards(); slot++) {
      if (layout.shardLength(slot) == 0
          && ShardId.name(row, slot).equals(BlobId.of(shard.getNameBefore()))) {
        named = named(context, named, slot, shard.getName());
      }
    }
    return named;
  }

  private static AttemptRow without(AttemptRow attempt, int slot) {
    return attempt.toBuilder()
        .clearSlots()
        .addAllSlots(without(attempt.getSlotsList(), slot))
        .clearMissedSlots()
        .addAllMissedSlots(without(attempt.getMissedSlotsList(), slot))
        .build();
  }

  private static List<Integer> without(List<Integer> slots, int slot) {
    return slots.stream().filter(each -> each != slot).toList();
  }

  /** Updates the table of shard names for the changed row. */
  private static void rename(ApplyContext context, BlobRow before, BlobRow after) {
    Set<BlobIdValue> names = new HashSet<>();
    after.getRebuiltList().forEach(shard -> names.add(shard.getName()));
    for (RebuiltShard shard : before.getRebuiltList()) {
      if (!names.contains(shard.getName())) {
        context.table().delete(Keys.shardName(BlobId.of(shard.getName())));
      }
    }
    for (RebuiltShard shard : after.getRebuiltList()) {
      if (!before.getRebuiltList().contains(shard)) {
        context
            .table()
            .put(Keys.shardName(BlobId.of(shard.getName())), before.getId().toByteArray());
      }
    }
  }

  /** Removes the names of a blob whose row is removed. */
  static void forgetNames(ApplyContext context, BlobRow row) {
    row.getRebuiltList()
        .forEach(shard -> context.table().delete(Keys.shardName(BlobId.of(shard.getName()))));
  }

  /**
   * Records shards that were found damaged or missing on drives that otherwise work. Each must
   * still be what was looked for: in the same slot and last state, on the slot's drive in the same
   * incarnation. Shards already in debt are skipped.
   */
  public static CommandResult recordLosses(ApplyContext context, RecordLostShards command) {
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
        && lastChange(row, slot) == shard.getLastChange();
  }
}
