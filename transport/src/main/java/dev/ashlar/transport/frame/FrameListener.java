package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the frames of a connection; an exception ends the connection. */
public interface FrameListener {
  /**
   * A frame's header and body have arrived and match their checksums.
   *
   * @return where its data goes; null if it has none or is not wanted
   */
  @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException;

  /** The frame's data has arrived too. */
  void arrived(FrameHeader header, Message message) throws IOException;
}
