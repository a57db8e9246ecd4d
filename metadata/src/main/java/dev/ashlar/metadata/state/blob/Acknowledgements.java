package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.IntFunction;

/**
 * Decides which acknowledgements count, and what slots without one are: in debt, or missing a
 * change.
 */
final class Acknowledgements {
  private Acknowledgements() {}

  /** The written slots that are not held, in order. */
  static List<Integer> missing(boolean[] held, Collection<Integer> written) {
    return written.stream().filter(slot -> !held[slot]).toList();
  }

  /** Refuses the command if too many slots are in debt. */
  static void requireDurable(Profile profile, Collection<Integer> debts) {
    require(debts.size() <= debtsMax(profile), ResultCode.NOT_DURABLE);
  }

  static int debtsMax(Profile profile) {
    return profile.shards() - profile.durableMinimum();
  }

  /**
   * Whether the owner of each slot has acknowledged.
   *
   * @param owners the drive that should have, per slot
   */
  static boolean[] held(
      ApplyContext context, IntFunction<UUID> owners, Profile profile, List<SlotAck> acks) {
    boolean[] held = new boolean[profile.shards()];
    for (SlotAck ack : acks) {
      int slot = ack.getSlot();
      require(slot >= 0 && slot < held.length, ResultCode.INVALID_COMMAND);
      held[slot] |= isHeld(context, owners.apply(slot), ack);
    }
    return held;
  }

  /** An acknowledgement counts if it comes from the owner in its present incarnation. */
  static boolean isHeld(ApplyContext context, UUID owner, SlotAck ack) {
    DriveId drive = context.catalog().drives().get(owner);
    return drive != null
        && owner.equals(driveOf(ack))
        && drive.incarnation() == ack.getIncarnation();
  }

  static UUID driveOf(SlotAck ack) {
    return new UUID(ack.getDriveHigh(), ack.getDriveLow());
  }

  // ---- The slots that missed unfolded changes of a blob ----

  /** Whether rows record them: since version 3. */
  static boolean areMissesRecorded(ApplyContext context) {
    return context.version() >= MetadataVersion.KNOWS_MISSED_SLOTS;
  }

  /**
   * The row after a change of its debts, with missed slots recorded. In a row from an earlier
   * version, a slot that is not in debt missed nothing. Slots in debt may have missed each change;
   * if there are no more of them than a commit allows, they are recorded as missed. Otherwise it
   * stays unknown.
   *
   * @param before the row with its previous debts
   */
  static BlobRow withMisses(ApplyContext context, BlobRow before, BlobRow after) {
    if (!areMissesRecorded(context)) {
      return after;
    }
    if (after.getAttemptsCount() == 0) {
      return after.getMissedSlotsKnown()
          ? after.toBuilder().clearMissedSlotsKnown().build()
          : after;
    }
    List<Integer> debts = before.getDebtSlotsList();
    if (after.getMissedSlotsKnown()
        || debts.size() > Acknowledgements.debtsMax(Profile.of(after.getProfile()))) {
      return after;
    }
    BlobRow.Builder told = after.toBuilder().setMissedSlotsKnown(true);
    for (AttemptRow.Builder attempt : told.getAttemptsBuilderList()) {
      attempt
          .clearMissedSlots()
          .addAllMissedSlots(attempt.getSlotsList().stream().filter(debts::contains).toList());
    }
    return told.build();
  }
}
