package dev.ashlar.it.linear;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one operation after the other does.
 *
 * @param <S> immutable, with equals and hashCode by content
 */
interface SequentialModel<S, I, O> {
  S initial();

  /**
   * The state after the operation; empty if it cannot have been answered so in this state.
   *
   * @param output null: whatever the answer would have been
   */
  Optional<S> after(S state, I input, @Nullable O output);
}
