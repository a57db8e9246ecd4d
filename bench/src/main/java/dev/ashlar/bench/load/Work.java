package dev.ashlar.bench.load;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What there is to do. Each lane asks from one thread; lanes of different loops at once. */
interface Work {
  /** The next operation of this lane; null when nothing is left to do. */
  @Nullable Operation next(int lane);

  /** The same until so many operations have begun. */
  default Work limitedTo(long operations) {
    Work all = this;
    AtomicLong left = new AtomicLong(operations);
    return new Work() {
      @Override
      public @Nullable Operation next(int lane) {
        return left.getAndDecrement() > 0 ? all.next(lane) : null;
      }

      @Override
      public void ended(int lane, Operation operation, boolean isDone) {
        all.ended(lane, operation, isDone);
      }
    };
  }

  /** The lane's operation has ended. */
  default void ended(int lane, Operation operation, boolean isDone) {}
}
