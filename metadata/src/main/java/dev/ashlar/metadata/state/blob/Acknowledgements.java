package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.IntFunction;

/** Decides which acknowledgements count, and which slots are in debt for lack of one. */
final class Acknowledgements {
  private Acknowledgements() {}

  /**
   * The slots in debt, ascending: the previous ones, and the slots written now without an
   * acknowledgement that counts.
   *
   * @param owners the drive that should have acknowledged, per slot
   */
  static List<Integer> debts(
      ApplyContext context,
      IntFunction<UUID> owners,
      Profile profile,
      List<SlotAck> acks,
      Collection<Integer> written,
      Collection<Integer> before) {
    TreeSet<Integer> debts = new TreeSet<>(before);
    debts.addAll(missing(held(context, owners, profile, acks), written));
    return new ArrayList<>(debts);
  }

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

  /** Whether the owner of each slot has acknowledged. */
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
}
