package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the frames that a reader parses; an exception ends the connection. */
interface FrameListener {
  @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException;

  void arrived(FrameHeader header, Message message) throws IOException;
}
