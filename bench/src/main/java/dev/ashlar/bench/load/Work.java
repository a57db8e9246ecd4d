package dev.ashlar.bench.load;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What there is to do. Each connection asks from one thread; connections of different loops at
 * once.
 */
public interface Work {
  /** The next operation of this connection; null when nothing is left to do. */
  @Nullable Operation next(int connection);

  /** The same until so many operations have begun. */
  default Work limitedTo(long operations) {
    Work all = this;
    AtomicLong left = new AtomicLong(operations);
    return new Work() {
      @Override
      public @Nullable Operation next(int connection) {
        return left.getAndDecrement() > 0 ? all.next(connection) : null;
      }

      @Override
      public void ended(int connection, Operation operation, boolean isDone) {
        all.ended(connection, operation, isDone);
      }
    };
  }

  /** The connection's operation has ended. */
  default void ended(int connection, Operation operation, boolean isDone) {}
}
