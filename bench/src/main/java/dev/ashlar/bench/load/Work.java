package dev.ashlar.bench.load;

import org.jspecify.annotations.Nullable;

/** What there is to do. Each lane asks from one thread; lanes of different loops at once. */
interface Work {
  /** The next operation of this lane; null when nothing is left to do. */
  @Nullable Operation next(int lane);

  /** The lane's operation has ended. */
  default void ended(int lane, Operation operation, boolean isDone) {}
}
