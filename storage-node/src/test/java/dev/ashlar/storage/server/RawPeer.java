package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.FrameSeal;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.MessageCodec;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Wire;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** One end of a connection over a plain socket, that may say anything. */
final class RawPeer implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;
  private final FrameSeal incoming = new FrameSeal();
  private final FrameSeal outgoing = new FrameSeal();

  /** A message and what stood around it. */
  record Frame(FrameHeader header, Message message, byte[] data) {}

  RawPeer(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  RawPeer(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(30_000);
    in = new DataInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  void sendRaw(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  void send(Message message) throws IOException {
    sendRaw(frame(0, 0, message, new byte[0], true, 0));
  }

  void request(long id, int drive, Message message, byte[] data, boolean isLast)
      throws IOException {
    sendRaw(frame(drive, id, message, data, isLast, 30_000));
  }

  byte[] frame(
      int drive, long id, Message message, byte[] data, boolean isLast, int timeoutMillis) {
    ByteBuffer body = ByteBuffer.allocate(MessageCodec.bytes(message));
    MessageCodec.put(body, message);
    body.flip();
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + body.limit() + data.length);
    new FrameHeader(
            message.type(),
            isLast,
            false,
            drive,
            id,
            body.limit(),
            data.length,
            timeoutMillis,
            crc(body.duplicate()),
            crc(ByteBuffer.wrap(data)))
        .put(frame, outgoing);
    return frame.put(body).put(data).array();
  }

  private static int crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /** The next frame; null at the end of the connection. */
  @Nullable Frame receive() throws IOException {
    byte[] header = new byte[FrameHeader.BYTES];
    try {
      in.readFully(header);
      FrameHeader known =
          FrameHeader.take(
              ByteBuffer.wrap(header), incoming, Wire.BODY_BYTES_MAX, Wire.CHUNK_BYTES_MAX);
      byte[] body = new byte[known.bodyBytes()];
      in.readFully(body);
      byte[] data = new byte[known.dataBytes()];
      in.readFully(data);
      return new Frame(known, MessageCodec.take(known.type(), ByteBuffer.wrap(body)), data);
    } catch (EOFException | SocketException e) {
      return null;
    }
  }

  /** The next message that is neither ping, pong nor state; null at the end. */
  @Nullable Message answer() throws IOException {
    for (Frame frame = receive(); frame != null; frame = receive()) {
      switch (frame.message().type()) {
        case PING, PONG, STATE -> {}
        default -> {
          return frame.message();
        }
      }
    }
    return null;
  }

  /** Greets as a client does; returns the last that the server said to it. */
  @Nullable Message greet(PeerIdentity side, ClusterSecret secret, List<UUID> drives)
      throws IOException {
    byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
    nonce[3] = 9;
    HandshakeMessage.Hello hello = new HandshakeMessage.Hello(side, nonce, drives);
    send(hello);
    Message said = answer();
    if (!(said instanceof HandshakeMessage.Challenge challenge)) {
      return said;
    }
    Handshake handshake = new Handshake(secret, hello, challenge);
    send(handshake.proof());
    outgoing.salt(handshake.clientSalt());
    Message last = answer();
    incoming.salt(handshake.serverSalt());
    return last;
  }

  /** Welcomes a client as a server does. */
  void welcome(PeerIdentity side, ClusterSecret secret, HandshakeMessage.Terms terms)
      throws IOException {
    if (!(answer() instanceof HandshakeMessage.Hello hello)) {
      throw new IOException("no HELLO");
    }
    byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
    HandshakeMessage.Challenge challenge = new HandshakeMessage.Challenge(side, nonce);
    send(challenge);
    Handshake handshake = new Handshake(secret, hello, challenge);
    if (!(answer() instanceof HandshakeMessage.Proof)) {
      throw new IOException("no PROOF");
    }
    incoming.salt(handshake.clientSalt());
    send(handshake.welcome(terms));
    outgoing.salt(handshake.serverSalt());
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
