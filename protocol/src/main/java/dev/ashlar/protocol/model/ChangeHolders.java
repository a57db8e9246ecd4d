package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
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
        .anyMatch(attempt -> attempt.getSlotsList().contains(slot) && mayMiss(row, attempt, slot));
  }

  private static boolean mayMiss(BlobRow row, AttemptRow attempt, int slot) {
    List<Integer> missed =
        row.getMissedSlotsKnown() ? attempt.getMissedSlotsList() : row.getDebtSlotsList();
    return missed.contains(slot);
  }

  /**
   * The slots that some of the first unfolded changes touched and that missed none of these: they
   * may be folded there, ascending.
   */
  public static Set<Integer> of(BlobRow row, int count) {
    Set<Integer> holders = touched(row, count);
    for (AttemptRow attempt : row.getAttemptsList().subList(0, count)) {
      holders.removeIf(
          slot -> attempt.getSlotsList().contains(slot) && mayMiss(row, attempt, slot));
    }
    return holders;
  }

  private static Set<Integer> touched(BlobRow row, int count) {
    Set<Integer> touched = new TreeSet<>();
    row.getAttemptsList()
        .subList(0, count)
        .forEach(attempt -> touched.addAll(attempt.getSlotsList()));
    return touched;
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
    Set<Integer> silent = row.getMissedSlotsKnown() ? of(row, count) : touched(row, count);
    silent.removeAll(folded);
    Set<Integer> unknown = touched(row, count);
    unknown.addAll(owed);
    unknown.removeAll(folded);
    // Slots without bytes are never owed, and count as zeros that are known.
    return silent.isEmpty() || unknown.size() <= row.getProfile().getParityShards();
  }
}
