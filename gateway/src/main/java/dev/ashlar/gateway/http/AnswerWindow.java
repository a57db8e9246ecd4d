package dev.ashlar.gateway.http;

import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Bounds the answer bytes of a connection that the client has not received yet. */
final class AnswerWindow {
  private final int windowBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private long unsentBytes;
  private boolean gone;

  AnswerWindow(int windowBytes) {
    this.windowBytes = windowBytes;
  }

  /** Blocks the request's thread while the window is full of unsent bytes. */
  void acquire(long bytes) throws IOException, InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!gone && unsentBytes >= windowBytes) {
        room.await();
      }
      if (gone) {
        throw new ClientGoneException();
      }
      unsentBytes += bytes;
    } finally {
      lock.unlock();
    }
  }

  /** Adds bytes that the event loop sends without waiting. */
  void add(long bytes) {
    lock.lock();
    try {
      unsentBytes += bytes;
    } finally {
      lock.unlock();
    }
  }

  void sent(long bytes) {
    lock.lock();
    try {
      unsentBytes -= bytes;
      if (unsentBytes <= windowBytes / 2) {
        room.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void clientGone() {
    lock.lock();
    try {
      gone = true;
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  long unsentBytes() {
    lock.lock();
    try {
      return unsentBytes;
    } finally {
      lock.unlock();
    }
  }

  /** The client closed the connection. It is no failure of the server, so it has no stack trace. */
  static final class ClientGoneException extends IOException {
    private static final long serialVersionUID = 1;

    ClientGoneException() {
      super("client has gone");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
