package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Handles the frames of one end of a connection. Called on the connection's event loop; an
 * exception ends the connection.
 */
public interface FrameHandler {
  void connected() throws IOException;

  /**
   * A frame's header and body have arrived and match their checksums.
   *
   * @return where its data goes; null if it has none or is not wanted
   */
  @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException;

  /** The frame's data has arrived too. */
  void arrived(FrameHeader header, Message message) throws IOException;

  /** Called at every heartbeat, to end what has waited too long. */
  void tick();

  /** The connection has ended. Called once, even if it was never established. */
  void closed(IOException why);
}
