package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.ReceiveTarget;
import java.io.IOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, on its event loop: takes nothing but the handshake until it is
 * established, and no handshake afterwards.
 */
abstract class Session implements FrameHandler {
  private final FrameConnection frames;
  private boolean isEstablished;
  private boolean isClosed;

  Session(Function<FrameHandler, FrameConnection> frames) {
    this.frames = frames.apply(this);
  }

  protected final FrameConnection frames() {
    return frames;
  }

  /** Whether both sides have authenticated and the terms are agreed. */
  protected final boolean isEstablished() {
    return isEstablished;
  }

  final void setEstablished() {
    isEstablished = true;
  }

  protected final boolean isClosed() {
    return isClosed;
  }

  abstract void handshake(FrameHeader header, HandshakeMessage message) throws IOException;

  /** Returns where the data behind this message goes; null if it has none or is not wanted. */
  protected abstract @Nullable ReceiveTarget target(FrameHeader header, Message message)
      throws IOException;

  /** The message and the data of its frame are complete. */
  protected abstract void received(FrameHeader header, Message message) throws IOException;

  /** The connection has ended. */
  abstract void end(IOException why);

  @Override
  public final @Nullable ReceiveTarget arriving(FrameHeader header, Message message)
      throws IOException {
    boolean isHandshake = message instanceof HandshakeMessage;
    if (isHandshake == isEstablished || (isHandshake && header.dataBytes() > 0)) {
      throw unexpected(message);
    }
    return isHandshake ? null : target(header, message);
  }

  @Override
  public final void arrived(FrameHeader header, Message message) throws IOException {
    if (message instanceof HandshakeMessage said) {
      handshake(header, said);
    } else {
      received(header, message);
    }
  }

  protected static WireFormatException unexpected(Message message) {
    return new WireFormatException(message.type() + " out of turn");
  }

  @Override
  public final void closed(IOException why) {
    isClosed = true;
    end(why);
  }
}
