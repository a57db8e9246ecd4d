package dev.ashlar.metadata.state;

import static dev.ashlar.metadata.state.Step.require;

import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;

/** Which acknowledgements count, and which slots owe a blob their shard because none did. */
final class Acks {
  private Acks() {}

  /**
   * The slots in debt, ascending: those that were and, of the slots written now, those without an
   * acknowledgement that counts.
   */
  static List<Integer> debts(
      Step step,
      int pg,
      Profile profile,
      List<SlotAck> acks,
      Collection<Integer> written,
      Collection<Integer> before) {
    boolean[] held = held(step, pg, profile, acks);
    TreeSet<Integer> debts = new TreeSet<>(before);
    for (int slot : written) {
      if (!held[slot]) {
        debts.add(slot);
      }
    }
    return new ArrayList<>(debts);
  }

  /** Refuses when too many slots are in debt. */
  static void requireDurable(Profile profile, Collection<Integer> debts) {
    require(debts.size() <= debtsMax(profile), ResultCode.NOT_DURABLE);
  }

  static int debtsMax(Profile profile) {
    return profile.shards() - profile.durableMinimum();
  }

  private static boolean[] held(Step step, int pg, Profile profile, List<SlotAck> acks) {
    boolean[] held = new boolean[profile.shards()];
    for (SlotAck ack : acks) {
      int slot = ack.getSlot();
      require(slot >= 0 && slot < held.length, ResultCode.INVALID_COMMAND);
      held[slot] |= isHeld(step, pg, ack);
    }
    return held;
  }

  /** An acknowledgement counts when its drive owns the slot now, in the life it has now. */
  static boolean isHeld(Step step, int pg, SlotAck ack) {
    UUID owner = step.placement().drive(pg, ack.getSlot());
    DriveId drive = step.catalog().drives().get(owner);
    return drive != null
        && owner.getMostSignificantBits() == ack.getDriveHigh()
        && owner.getLeastSignificantBits() == ack.getDriveLow()
        && drive.incarnation() == ack.getIncarnation();
  }
}
