package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where a reader brings its frames; what it throws ends the connection. */
interface FrameListener {
  @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException;

  void arrived(FrameHeader header, Message message) throws IOException;
}
