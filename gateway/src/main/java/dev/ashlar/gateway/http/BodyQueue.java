package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands body pieces from the event loop to the request's thread. The socket is read only after the
 * thread asked for bytes, and at most one window ahead of it.
 */
final class BodyQueue implements RequestBody {
  // Every piece keeps the whole buffer of one socket read alive, however small it is.
  private static final int PIECES_MAX = 64;

  private final long length;
  private final int windowBytes;
  private final Runnable resumeReading;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<ByteBuf> pieces = new ArrayDeque<>(2);
  private long queuedBytes;
  private long takenBytes;
  // The event loop has stopped reading; the thread must wake it.
  private boolean paused = true;
  private boolean ended;
  private boolean closed;
  private @Nullable S3Exception failure;

  /**
   * @param resumeReading called by the thread when it wants more than has arrived
   */
  BodyQueue(long length, int windowBytes, Runnable resumeReading) {
    this.length = length;
    this.windowBytes = windowBytes;
    this.resumeReading = resumeReading;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public @Nullable ByteBuf read() throws S3Exception, InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        ByteBuf piece = pieces.poll();
        if (piece != null) {
          queuedBytes -= piece.readableBytes();
          takenBytes += piece.readableBytes();
          if (queuedBytes <= windowBytes / 2 && pieces.size() <= PIECES_MAX / 2) {
            resume();
          }
          return piece;
        }
        if (failure != null) {
          throw failure;
        }
        if (ended) {
          return null;
        }
        resume();
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many bytes the request's thread has read. */
  long takenBytes() {
    lock.lock();
    try {
      return takenBytes;
    } finally {
      lock.unlock();
    }
  }

  private void resume() {
    if (paused && !ended && failure == null) {
      paused = false;
      resumeReading.run();
    }
  }

  /** Queues a piece, or releases it if nobody will read it. */
  void offer(ByteBuf piece) {
    if (!piece.isReadable()) {
      piece.release();
      return;
    }
    lock.lock();
    try {
      if (closed || failure != null) {
        piece.release();
      } else {
        pieces.add(piece);
        queuedBytes += piece.readableBytes();
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether the event loop should continue to read; if not, the thread will resume it. */
  boolean hasRoom() {
    lock.lock();
    try {
      paused |= queuedBytes >= windowBytes || pieces.size() >= PIECES_MAX;
      return !paused;
    } finally {
      lock.unlock();
    }
  }

  /** Every byte has been offered. */
  void end() {
    lock.lock();
    try {
      ended = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Fails the reader; the rest of the body will not arrive. */
  void fail(S3Exception cause) {
    lock.lock();
    try {
      if (!ended && failure == null) {
        failure = cause;
        releasePieces();
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Releases all pieces, also those that still arrive: nobody reads any more. */
  void close() {
    lock.lock();
    try {
      closed = true;
      releasePieces();
    } finally {
      lock.unlock();
    }
  }

  private void releasePieces() {
    pieces.forEach(ByteBuf::release);
    pieces.clear();
    queuedBytes = 0;
  }
}
