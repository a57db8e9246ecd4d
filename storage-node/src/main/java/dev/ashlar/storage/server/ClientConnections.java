package dev.ashlar.storage.server;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All connections of one client, which keeps its requests in order: a new connection is established
 * only when the older ones have ended, and a drive refuses changes until it has finished those that
 * the client has abandoned or lost with a connection.
 */
final class ClientConnections {
  private final AtomicIntegerArray abandoned;
  private final ReentrantLock lock = new ReentrantLock();
  private final Set<ShardServerSession> open = new LinkedHashSet<>();
  private @Nullable ShardServerSession newest;

  ClientConnections(int drives) {
    abandoned = new AtomicIntegerArray(drives);
  }

  /** Adds a connection, which keeps the client from being idle. */
  void expect(ShardServerSession connection) {
    lock.lock();
    try {
      open.add(connection);
      newest = connection;
    } finally {
      lock.unlock();
    }
  }

  /** Ends all older connections; this one is established when they are gone. */
  void enter(ShardServerSession connection) {
    List<ShardServerSession> before = new ArrayList<>();
    lock.lock();
    try {
      for (ShardServerSession each : open) {
        if (each == connection) {
          break;
        }
        before.add(each);
      }
    } finally {
      lock.unlock();
    }
    before.forEach(ShardServerSession::supersede);
    establishIfAlone();
  }

  /** The connection has ended. */
  void leave(ShardServerSession connection) {
    lock.lock();
    try {
      open.remove(connection);
    } finally {
      lock.unlock();
    }
    establishIfAlone();
  }

  private void establishIfAlone() {
    ShardServerSession next = null;
    lock.lock();
    try {
      if (open.size() == 1 && newest != null && open.contains(newest)) {
        next = newest;
        newest = null;
      }
    } finally {
      lock.unlock();
    }
    if (next != null) {
      next.establishSoon();
    }
  }

  /** The client no longer waits for a change that the drive is executing. */
  void abandon(int drive) {
    abandoned.incrementAndGet(drive);
  }

  /** The drive has finished an abandoned change. */
  void settle(int drive) {
    abandoned.decrementAndGet(drive);
  }

  boolean hasAbandoned(int drive) {
    return abandoned.get(drive) > 0;
  }

  /** Whether it has neither connections nor abandoned changes. */
  boolean isIdle() {
    lock.lock();
    try {
      boolean isIdle = open.isEmpty();
      for (int drive = 0; isIdle && drive < abandoned.length(); drive++) {
        isIdle = abandoned.get(drive) == 0;
      }
      return isIdle;
    } finally {
      lock.unlock();
    }
  }
}
