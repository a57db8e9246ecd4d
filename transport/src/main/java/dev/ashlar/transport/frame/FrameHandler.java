package dev.ashlar.transport.frame;

import java.io.IOException;

/**
 * Handles the frames of one end of a connection. Called on the connection's event loop; an
 * exception ends the connection.
 */
public interface FrameHandler extends FrameListener {
  void connected() throws IOException;

  /** Called at every heartbeat, to end what has waited too long. */
  void tick();

  /** The connection has ended. Called once, even if it was never established. */
  void closed(IOException why);
}
