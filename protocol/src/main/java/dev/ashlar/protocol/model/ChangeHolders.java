package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which slots have the unfolded changes of a blob, as far as its row tells. There are two kinds of
 * slots in debt. One missed a change when it was committed: its drive may have the first pieces of
 * that change only, and cannot tell. The other acknowledged it, and its drive began a new
 * incarnation afterwards: it has all of the change, or answers that it does not.
 */
public final class ChangeHolders {
  private ChangeHolders() {}

  /** Whether what the slot's drive has of an unfolded change may be a part of it. */
  public static boolean mayBePartial(BlobRow row, int slot) {
    return row.getAttemptsList().stream()
        .anyMatch(attempt -> touches(attempt, slot) && mayMiss(row, attempt, slot));
  }

  /** Whether an unfolded change touches the slot's shard. */
  public static boolean touches(AttemptRow attempt, int slot) {
    for (int i = 0; i < attempt.getSlotsCount(); i++) {
      if (attempt.getSlots(i) == slot) {
        return true;
      }
    }
    return false;
  }

  private static boolean mayMiss(BlobRow row, AttemptRow attempt, int slot) {
    return missed(row, attempt).contains(slot);
  }

  private static List<Integer> missed(BlobRow row, AttemptRow attempt) {
    return row.getMissedSlotsKnown() ? attempt.getMissedSlotsList() : row.getDebtSlotsList();
  }

  /**
   * The slots that some of the first unfolded changes touched and that missed none of these: they
   * may be folded there, ascending.
   */
  public static Set<Integer> of(BlobRow row, int count) {
    Set<Integer> slots = new TreeSet<>();
    holders(row, count).stream().forEach(slots::add);
    return slots;
  }

  private static BitSet holders(BlobRow row, int count) {
    BitSet holders = new BitSet();
    BitSet missed = new BitSet();
    for (int i = 0; i < count; i++) {
      AttemptRow attempt = row.getAttempts(i);
      add(holders, attempt.getSlotsList());
      for (int slot : missed(row, attempt)) {
        if (touches(attempt, slot)) {
          missed.set(slot);
        }
      }
    }
    holders.andNot(missed);
    return holders;
  }

  private static BitSet touched(BlobRow row, int count) {
    BitSet touched = new BitSet();
    for (int i = 0; i < count; i++) {
      add(touched, row.getAttempts(i).getSlotsList());
    }
    return touched;
  }

  private static void add(BitSet slots, Collection<Integer> more) {
    for (int slot : more) {
      slots.set(slot);
    }
  }

  /**
   * Whether the first unfolded changes may leave the list. From then on a slot that has not folded
   * them is worth nothing until it is repaired, also for what they did not change. So either no
   * slot may have them that has not folded them, or the others suffice to decode all.
   *
   * @param folded slots that have folded them, in the present incarnations of their drives
   * @param owed slots in debt
   */
  public static boolean mayLeave(
      BlobRow row, int count, Collection<Integer> folded, Collection<Integer> owed) {
    BitSet done = new BitSet();
    add(done, folded);
    BitSet unknown = touched(row, count);
    BitSet silent = row.getMissedSlotsKnown() ? holders(row, count) : (BitSet) unknown.clone();
    silent.andNot(done);
    add(unknown, owed);
    unknown.andNot(done);
    // Slots without bytes are never owed, and count as zeros that are known.
    return silent.isEmpty() || unknown.cardinality() <= row.getProfile().getParityShards();
  }
}
