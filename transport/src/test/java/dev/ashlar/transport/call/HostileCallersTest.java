package dev.ashlar.transport.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.FramePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers that know the secret and not the rules: their connection ends, and nothing is left. */
@Timeout(60)
class HostileCallersTest {
  private static final long SOON = System.nanoTime() + Duration.ofHours(1).toNanos();

  private final UUID cluster = UUID.randomUUID();
  private final ClusterSecret secret =
      new ClusterSecret("a secret of a test".getBytes(StandardCharsets.UTF_8));
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "hostile-test");
  private final AtomicInteger handled = new AtomicInteger();
  private FramePort port;
  private CallServer server;

  @BeforeEach
  void listen() throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = new FramePort(any, null, FrameTimes.DEFAULT, loops);
    CallServerConfig.Limits small =
        new CallServerConfig.Limits(8, 8, 4, Wire.CALL_BYTES_MAX, Wire.ANSWER_BYTES_MAX);
    server =
        new CallServer(
            new CallServerConfig(cluster, secret, small), port, call -> handled.incrementAndGet());
  }

  @AfterEach
  void close() {
    port.close();
    server.close();
    loops.close();
  }

  /** A connection that misbehaves as soon as it is welcome, or before. */
  private final class Caller implements FrameHandler {
    final CountDownLatch closed = new CountDownLatch(1);
    private final FrameConnection frames = new FrameConnection(this, FrameTimes.DEFAULT);
    private final Consumer<FrameConnection> misdeed;
    private final boolean isPolite;
    private final HandshakeMessage.Hello hello =
        new HandshakeMessage.Hello(
            PeerIdentity.of(Role.GATEWAY, cluster), HandshakeMessage.newNonce(), List.of());
    private @Nullable Handshake handshake;

    Caller(boolean isPolite, Consumer<FrameConnection> misdeed) {
      this.isPolite = isPolite;
      this.misdeed = misdeed;
    }

    @Override
    public void connected() {
      frames.send(0, 0, hello);
      if (!isPolite) {
        misdeed.accept(frames);
      }
    }

    @Override
    public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) {
      return null;
    }

    @Override
    public void arrived(FrameHeader header, Message message) throws IOException {
      if (message instanceof HandshakeMessage.Challenge challenge) {
        Handshake now = new Handshake(secret, hello, challenge, frames.channelBinding());
        handshake = now;
        frames.send(0, 0, now.proof());
        frames.saltOutgoing(now.clientSalt());
      } else if (message instanceof HandshakeMessage.Welcome && handshake != null) {
        frames.saltIncoming(handshake.serverSalt());
        misdeed.accept(frames);
      }
    }

    @Override
    public void tick() {}

    @Override
    public void closed(IOException why) {
      closed.countDown();
    }
  }

  private void isEnded(Consumer<FrameConnection> misdeed) throws Exception {
    isEnded(new Caller(true, misdeed));
  }

  private void isEnded(Caller caller) throws Exception {
    var unused = loops.connect(port.address(), Duration.ofSeconds(5), null, caller.frames);
    caller.closed.await();
    while (server.reservedBytes() > 0) {
      Thread.sleep(5);
    }
  }

  private static OutgoingMessage call(long id, int length, int sent) {
    OutgoingData data =
        sent == 0 ? null : new OutgoingData(List.of(ByteBuffer.allocate(sent)), () -> {});
    return new OutgoingMessage(0, id, new CallMessage.Call(Method.QUERY, length), data, SOON);
  }

  @Test
  void messagesThatAreNoCallsEndTheConnection() throws Exception {
    isEnded(frames -> frames.send(0, 1, new Signal.Data()));
    isEnded(frames -> frames.send(0, 1, new CallMessage.Answer(Outcome.DONE, 0)));
    isEnded(frames -> frames.send(0, 1, new Request.DeleteAll(List.of(new BlobId(1, 2)))));
    isEnded(frames -> frames.send(0, 1, new HandshakeMessage.Proof(new byte[32])));
    isEnded(frames -> frames.send(0, 1, new CallMessage.Call(Method.QUERY, 0))); // no timeout
    assertEquals(0, handled.get());
  }

  @Test
  void wrongLengthsEndTheConnection() throws Exception {
    isEnded(frames -> frames.send(call(1, 10, 5)));
    isEnded(frames -> frames.send(call(1, 5, 10)));
    isEnded(frames -> frames.send(call(1, 0, 300_000)));
    isEnded(frames -> frames.send(call(1, Wire.CALL_BYTES_MAX, 300_000)));
    assertEquals(0, handled.get());
  }

  @Test
  void moreThanTheTermsAllowEndsTheConnection() throws Exception {
    isEnded(
        frames -> {
          for (int id = 1; id <= 5; id++) {
            frames.send(call(id, 1000, 1000));
          }
        });
    assertEquals(4, handled.getAndSet(0));
    isEnded(
        frames -> {
          frames.send(call(7, 1000, 1000));
          frames.send(call(7, 1000, 1000));
        });
    assertEquals(1, handled.get());
  }

  @Test
  void callsBeforeAuthenticationAreRefused() throws Exception {
    isEnded(new Caller(false, frames -> frames.send(call(1, 0, 0))));
    isEnded(new Caller(false, frames -> frames.send(call(1, 10, 10))));
    assertEquals(0, handled.get());
  }
}
