package dev.ashlar.transport.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.tls.ClusterTls;
import dev.ashlar.transport.tls.TestAuthority;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** For a peer that does not read, TLS holds no more than a connection without it does. */
@Timeout(60)
class TlsFlowTest {
  private static final int DATA_BYTES = 64 << 20;
  private static final long HELD_BYTES_MAX = 1 << 20;

  private static final FrameTimes PATIENT =
      new FrameTimes(Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1));

  @TempDir private Path folder;

  /** Sends as much as it is let. */
  private static final class Sending implements FrameHandler {
    final AtomicBoolean isReleased = new AtomicBoolean();
    final OutgoingData data =
        new OutgoingData(
            List.of(ByteBuffer.allocateDirect(DATA_BYTES)), () -> isReleased.set(true));
    final CountDownLatch closed = new CountDownLatch(1);
    final FrameConnection frames = new FrameConnection(this, PATIENT);

    @Override
    public void connected() {
      frames.send(new OutgoingMessage(0, 1, new Signal.Data(), data, 0));
    }

    @Override
    public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) {
      return null;
    }

    @Override
    public void arrived(FrameHeader header, Message message) {}

    @Override
    public void tick() {}

    @Override
    public void closed(IOException why) {
      closed.countDown();
    }
  }

  @Test
  void dataForAPeerThatDoesNotReadIsNotBuffered() throws Exception {
    TestAuthority authority = new TestAuthority(folder, "authority");
    try (EventLoops loops = new EventLoops(Transport.preferred(), 1, "flow");
        SSLServerSocket listener = listener(authority);
        ClusterTls tls = authority.tls("client")) {
      Sending sending = new Sending();
      ChannelFuture connecting =
          loops.connect(
              new InetSocketAddress(
                  InetAddress.getByAddress("127.0.0.1", new byte[] {127, 0, 0, 1}),
                  listener.getLocalPort()),
              Duration.ofSeconds(10),
              tls,
              sending.frames);
      try (SSLSocket peer = (SSLSocket) listener.accept()) {
        peer.startHandshake();
        int left = awaitRest(connecting.channel(), sending.data);
        assertTrue(left > DATA_BYTES / 2, () -> "only " + left + " are left");
        long held = onLoop(connecting.channel(), () -> held(connecting.channel()));
        assertTrue(held <= HELD_BYTES_MAX, () -> "held: " + held);
        readAll(peer.getInputStream());
      }
      sending.closed.await();
      assertTrue(sending.isReleased.get());
    }
  }

  private static SSLServerSocket listener(TestAuthority authority) throws Exception {
    var bundle = authority.issue("server", TestAuthority::node);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        bundle.toKeyManagerFactory().getKeyManagers(),
        new TrustManager[] {bundle.toTrustManager()},
        null);
    return (SSLServerSocket)
        context.getServerSocketFactory().createServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  /** Until nothing has been taken for a while; returns what is left. */
  private static int awaitRest(Channel channel, OutgoingData data) throws Exception {
    int before = DATA_BYTES;
    for (int same = 0; same < 20; ) {
      Thread.sleep(25);
      int left = onLoop(channel, data::left);
      same = left == before && left < DATA_BYTES ? same + 1 : 0;
      before = left;
    }
    return before;
  }

  private static <T> T onLoop(Channel channel, Callable<T> what) throws Exception {
    return channel.eventLoop().submit(what).get();
  }

  private static long held(Channel channel) {
    var buffer = channel.unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  /** All of the frames come, when it reads after all. */
  private static void readAll(InputStream in) throws IOException {
    int frames = DATA_BYTES / Wire.CHUNK_BYTES_MAX;
    long expected = DATA_BYTES + (long) frames * FrameHeader.BYTES;
    long count = 0;
    byte[] buffer = new byte[1 << 16];
    while (count < expected) {
      int read = in.read(buffer);
      assertTrue(read > 0, "the end");
      count += read;
    }
    assertEquals(expected, Math.min(expected, count));
  }
}
