package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What one end of a connection makes of frames. Called on the connection's event loop; what it
 * throws ends the connection.
 */
public interface FrameHandler {
  void connected() throws IOException;

  /**
   * A frame's header and body are here, and match their checksums.
   *
   * @return where its data goes; null if it has none or nobody wants it
   */
  @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException;

  /** Now its data is there too. */
  void arrived(FrameHeader header, Message message) throws IOException;

  /** A regular look at what has been waiting for too long. */
  void tick();

  /** Nothing comes and nothing leaves any more. Called once, also if it never was connected. */
  void closed(IOException why);
}
