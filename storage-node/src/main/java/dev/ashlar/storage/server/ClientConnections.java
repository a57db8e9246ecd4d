package dev.ashlar.storage.server;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One client over all its connections, so that nothing it asks for overtakes what it asked for
 * before: a new connection is welcomed when those before it are closed, and a drive refuses changes
 * until it has ended those that the client has given up, or lost with a connection.
 */
final class ClientConnections {
  private final AtomicIntegerArray abandoned;
  private final ReentrantLock lock = new ReentrantLock();
  private final Set<ShardServerSession> open = new LinkedHashSet<>();
  private @Nullable ShardServerSession newest;

  ClientConnections(int drives) {
    abandoned = new AtomicIntegerArray(drives);
  }

  /** From now on it is not idle. */
  void expect(ShardServerSession connection) {
    lock.lock();
    try {
      open.add(connection);
      newest = connection;
    } finally {
      lock.unlock();
    }
  }

  /** Takes the place of all connections before it, which are told to end. */
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
    welcomeIfAlone();
  }

  /** Nothing comes over it any more. */
  void leave(ShardServerSession connection) {
    lock.lock();
    try {
      open.remove(connection);
    } finally {
      lock.unlock();
    }
    welcomeIfAlone();
  }

  private void welcomeIfAlone() {
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

  /** A change is at the drive, and the client does not wait for it any more. */
  void abandon(int drive) {
    abandoned.incrementAndGet(drive);
  }

  /** It has ended after all. */
  void settle(int drive) {
    abandoned.decrementAndGet(drive);
  }

  boolean hasAbandoned(int drive) {
    return abandoned.get(drive) > 0;
  }

  /** Whether nothing is left to remember. */
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
