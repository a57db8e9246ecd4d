package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.ShardFault;
import org.jspecify.annotations.Nullable;

/** What belongs to no request, or changes one that is on its way. */
public sealed interface Signal extends Message {
  /** The request is no longer wanted, and no more data of it will be sent. It is still answered. */
  record Cancel() implements Signal {
    @Override
    public MessageType type() {
      return MessageType.CANCEL;
    }
  }

  /** More data of a request or an answer. */
  record Data() implements Signal {
    @Override
    public MessageType type() {
      return MessageType.DATA;
    }
  }

  /**
   * A drive's state, told when it changes.
   *
   * @param refusal what new data would be refused with; null when it is taken
   */
  record State(@Nullable ShardFault refusal) implements Signal {
    @Override
    public MessageType type() {
      return MessageType.STATE;
    }
  }

  /** Asks for a pong of the same number: whoever does not read or answer gives none. */
  record Ping() implements Signal {
    @Override
    public MessageType type() {
      return MessageType.PING;
    }
  }

  record Pong() implements Signal {
    @Override
    public MessageType type() {
      return MessageType.PONG;
    }
  }
}
