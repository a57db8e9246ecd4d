package dev.ashlar.gateway.exchange;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** The body of an answer on its way to the client. */
public interface AnswerStream {
  /**
   * Hands over the buffer, also when this throws. Blocks while the client has too much unread.
   *
   * @throws IOException when the client has gone or has stalled for too long
   */
  void write(ByteBuf bytes) throws IOException, InterruptedException;
}
