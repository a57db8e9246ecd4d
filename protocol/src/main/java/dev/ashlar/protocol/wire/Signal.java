package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.ShardFault;
import org.jspecify.annotations.Nullable;

/** Messages that are neither request nor answer. */
public sealed interface Signal extends Message {
  /** Abandons a request: no more of its data will be sent. It is still answered. */
  record Cancel() implements Signal {}

  /** More data of a request or an answer. */
  record Data() implements Signal {}

  /**
   * A change of a drive's state.
   *
   * @param refusal the fault that new data would be refused with; null when it is accepted
   */
  record State(@Nullable ShardFault refusal) implements Signal {}

  /** Asks for a PONG with the same number, to check that the peer is alive. */
  record Ping() implements Signal {}

  record Pong() implements Signal {}
}
