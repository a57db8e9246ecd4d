package dev.ashlar.it.linear;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for an order of a history's operations that a sequential model allows and in which none
 * comes before one that had returned before it was called: the search of Wing and Gong (1993), with
 * Lowe's (2017) memory of what was tried. Two orders of the same operations that lead to the same
 * state are one.
 */
final class Linearizability<S, I, O> {
  private final SequentialModel<S, I, O> model;
  private final Entry head = new Entry(-1, false, Long.MIN_VALUE);
  private final List<Operation<I, O>> history;

  /** Of the operations without an answer, how many may have happened. */
  private final int lateMax;

  private int late;
  private int unplaced;

  /** A call or a return in a doubly linked list by time. */
  private static final class Entry {
    final int operation;
    final boolean isCall;
    final long time;
    @Nullable Entry matchingReturn;
    @Nullable Entry before;
    @Nullable Entry next;

    Entry(int operation, boolean isCall, long time) {
      this.operation = operation;
      this.isCall = isCall;
      this.time = time;
    }

    void unlink() {
      if (before != null) {
        before.next = next;
      }
      if (next != null) {
        next.before = before;
      }
    }

    /** Where it was; entries come back in the opposite order in which they went. */
    void relink() {
      if (before != null) {
        before.next = this;
      }
      if (next != null) {
        next.before = this;
      }
    }
  }

  private record Tried<S>(BitSet placed, S state) {}

  private record Placed<S>(Entry call, S stateBefore) {}

  private Linearizability(
      SequentialModel<S, I, O> model, List<Operation<I, O>> history, int lateMax) {
    this.model = model;
    this.history = history;
    this.lateMax = lateMax;
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < history.size(); i++) {
      Operation<I, O> operation = history.get(i);
      Entry call = new Entry(i, true, operation.calledAt());
      entries.add(call);
      if (operation.output() != null) {
        call.matchingReturn = new Entry(i, false, operation.returnedAt());
        entries.add(call.matchingReturn);
        unplaced++;
      }
    }
    // At the same time the call comes first: the two may have overlapped.
    entries.sort(
        Comparator.<Entry>comparingLong(each -> each.time).thenComparing(each -> !each.isCall));
    Entry last = head;
    for (Entry each : entries) {
      last.next = each;
      each.before = last;
      last = each;
    }
  }

  static <S, I, O> boolean isLinearizable(
      SequentialModel<S, I, O> model, List<Operation<I, O>> history) {
    int unanswered = (int) history.stream().filter(each -> each.output() == null).count();
    // Few of them have happened, as a rule: looking for those first keeps the search small.
    for (int lateMax = 0; lateMax < unanswered; lateMax = 2 * lateMax + 1) {
      if (new Linearizability<>(model, history, lateMax).search()) {
        return true;
      }
    }
    return new Linearizability<>(model, history, unanswered).search();
  }

  private boolean search() {
    Set<Tried<S>> tried = new HashSet<>();
    Deque<Placed<S>> path = new ArrayDeque<>();
    BitSet placed = new BitSet();
    S state = model.initial();
    Entry entry = head.next;
    // Those without an answer may stay out.
    while (unplaced > 0) {
      if (entry != null && entry.isCall) {
        Operation<I, O> operation = history.get(entry.operation);
        Optional<S> after = model.after(state, operation.input(), operation.output());
        if (after.isPresent()
            && mayBePlaced(operation, state, after.get())
            && tried.add(with(placed, entry.operation, after.get()))) {
          path.push(new Placed<>(entry, state));
          state = after.get();
          placed.set(entry.operation);
          take(entry);
          entry = head.next;
        } else {
          entry = entry.next;
        }
      } else if (path.isEmpty()) {
        return false;
      } else {
        // An operation returned that cannot be next, nor any that was called before: go back.
        Placed<S> last = path.pop();
        state = last.stateBefore();
        placed.clear(last.call().operation);
        putBack(last.call());
        entry = last.call().next;
      }
    }
    return true;
  }

  /** Without an answer and without an effect it may as well stay out. */
  private boolean mayBePlaced(Operation<I, O> operation, S before, S after) {
    return operation.output() != null || (late < lateMax && !after.equals(before));
  }

  private static <S> Tried<S> with(BitSet placed, int operation, S state) {
    BitSet all = (BitSet) placed.clone();
    all.set(operation);
    return new Tried<>(all, state);
  }

  private void take(Entry call) {
    call.unlink();
    if (call.matchingReturn == null) {
      late++;
    } else {
      call.matchingReturn.unlink();
      unplaced--;
    }
  }

  private void putBack(Entry call) {
    if (call.matchingReturn == null) {
      late--;
    } else {
      call.matchingReturn.relink();
      unplaced++;
    }
    call.relink();
  }
}
