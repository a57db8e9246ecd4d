package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.raft.TableStateMachine;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Chooses the peer whose tables answer reads in a process that runs all peers.
 *
 * <p>All peers and clients are in this process, so no lease is needed: a read is linearizable if
 * the tables contain every command answered before it and everything an earlier read has seen. The
 * first is true of a peer that has applied as far as any answer; the second because the source
 * changes only to a peer that is at least as far as the previous one.
 */
final class ReadSource {
  private final List<TableStateMachine> machines;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile TableStateMachine current;

  ReadSource(List<TableStateMachine> machines) {
    this.machines = machines;
    this.current = machines.getFirst();
  }

  TableStateMachine current() throws MetadataUnavailableException {
    TableStateMachine present = current;
    if (present.tables().isWhole() && present.appliedIndex() >= answeredIndex()) {
      return present;
    }
    return change();
  }

  /** The last log entry whose commands any peer has answered. */
  private long answeredIndex() {
    long index = -1;
    for (TableStateMachine machine : machines) {
      index = Math.max(index, machine.answeredIndex());
    }
    return index;
  }

  private TableStateMachine change() throws MetadataUnavailableException {
    lock.lock();
    try {
      long needed = Math.max(answeredIndex(), current.appliedIndex());
      current =
          machines.stream()
              .filter(machine -> machine.tables().isOpen())
              .filter(machine -> machine.appliedIndex() >= needed)
              .max(
                  Comparator.comparing((TableStateMachine machine) -> machine.tables().isWhole())
                      .thenComparingLong(TableStateMachine::appliedIndex))
              .orElseThrow(
                  () -> MetadataUnavailableException.refused("no metadata peer is up to date"));
      return current;
    } finally {
      lock.unlock();
    }
  }
}
