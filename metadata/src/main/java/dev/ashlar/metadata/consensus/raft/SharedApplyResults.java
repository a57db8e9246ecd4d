package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.state.MetadataState.Applied;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the results of the latest log entries, so that only the first of the peers of this process
 * executes the commands. The others, a little behind, write the same rows; one that is further
 * behind executes the commands itself.
 */
public final class SharedApplyResults {
  private static final int ENTRIES_MAX = 128;
  private static final int COMMANDS_MAX = 4096;

  private final boolean isShared;
  private final ArrayDeque<Applied> latest = new ArrayDeque<>();
  private int commands;

  public SharedApplyResults(int peers) {
    this.isShared = peers > 1;
  }

  synchronized void publish(Applied applied) {
    if (!isShared) {
      return;
    }
    Applied last = latest.peekLast();
    if (last != null && last.reached().getIndex() >= applied.reached().getIndex()) {
      return; // this peer is behind the others
    }
    latest.add(applied);
    commands += applied.results().size();
    while (latest.size() > 1 && (latest.size() > ENTRIES_MAX || commands > COMMANDS_MAX)) {
      commands -= latest.remove().results().size();
    }
  }

  synchronized @Nullable Applied find(long term, long index) {
    for (Iterator<Applied> newest = latest.descendingIterator(); newest.hasNext(); ) {
      Applied applied = newest.next();
      if (applied.reached().getIndex() == index && applied.reached().getTerm() == term) {
        return applied;
      }
    }
    return null;
  }
}
