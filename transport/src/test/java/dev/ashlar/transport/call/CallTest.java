package dev.ashlar.transport.call;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.FaultyProxy;
import dev.ashlar.transport.FaultyProxy.Fault;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CallTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final ClusterSecret SECRET = secret("a secret of a test");

  private final UUID cluster = UUID.randomUUID();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "call-test");
  private final BlockingQueue<IncomingCall> held = new LinkedBlockingQueue<>();
  private final Queue<String> traces = new ConcurrentLinkedQueue<>();
  private FramePort port;
  private CallServer server;

  private static ClusterSecret secret(String text) {
    return new ClusterSecret(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Answers a QUERY with its own bytes, backwards; keeps what else comes. */
  private void serve(IncomingCall call) {
    traces.add(String.valueOf(call.trace()));
    if (call.method() == Method.QUERY) {
      call.answer(CallAnswer.done(reversed(call.body())));
    } else {
      held.add(call);
    }
  }

  private static byte[] reversed(byte[] bytes) {
    byte[] reversed = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      reversed[i] = bytes[bytes.length - 1 - i];
    }
    return reversed;
  }

  @BeforeEach
  void listen() throws Exception {
    listen(CallServerConfig.Limits.DEFAULT);
  }

  private void listen(CallServerConfig.Limits limits) throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = new FramePort(any, null, FrameTimes.DEFAULT, loops);
    server = new CallServer(new CallServerConfig(cluster, SECRET, limits), port, this::serve);
  }

  @AfterEach
  void close() {
    port.close();
    server.close();
    loops.close();
  }

  private CallClient client(UUID ofCluster, ClusterSecret secret, int toPort) {
    return new CallClient(
        new Endpoint("127.0.0.1", toPort),
        new CallClientConfig(Role.GATEWAY, ofCluster, secret, null),
        loops,
        new Random(1));
  }

  private CallClient connected() throws Exception {
    CallClient client = client(cluster, SECRET, port.address().getPort());
    assertTrue(client.awaitConnected(LONG));
    return client;
  }

  @Test
  void concurrentCallsOfAnyLengthAreAnswered() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    try (CallClient client = connected()) {
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Random random = new Random(seed + i);
        callers.add(Thread.ofVirtual().start(() -> callOn(client, random, failures)));
      }
      for (Thread caller : callers) {
        caller.join();
      }
    }
    assertEquals(List.of(), List.copyOf(failures), "seed " + seed);
    assertEquals(0, server.reservedBytes());
  }

  private static void callOn(CallClient client, Random random, Queue<Throwable> failures) {
    int[] lengths = {0, 1, 1000, 20_000, 128 << 10, 1 << 20, Wire.CALL_BYTES_MAX};
    for (int i = 0; i < 40; i++) {
      byte[] body = new byte[lengths[random.nextInt(lengths.length - (i % 10 == 0 ? 0 : 2))]];
      random.nextBytes(body);
      try {
        CallAnswer answer = client.call(Method.QUERY, body, LONG);
        assertEquals(Outcome.DONE, answer.outcome());
        assertArrayEquals(reversed(body), answer.body());
      } catch (Exception | AssertionError e) {
        failures.add(e);
      }
    }
  }

  @Test
  void aCallHasTheTraceOfItsCallerIfThatIsSampled() throws Exception {
    TraceContext sampled = new TraceContext(1, 2, 3, TraceContext.SAMPLED);
    try (CallClient client = connected()) {
      for (TraceContext each : List.of(sampled, new TraceContext(1, 2, 4, (byte) 0))) {
        CurrentSpan.set(() -> each);
        try {
          client.call(Method.QUERY, new byte[200_000], LONG);
        } finally {
          CurrentSpan.set(null);
        }
      }
      client.call(Method.QUERY, new byte[0], LONG);
    }
    assertEquals(List.of(sampled.toString(), "null", "null"), List.copyOf(traces));
  }

  @Test
  void aCallWithoutAnAnswerEndsAtItsDeadlineAndReleasesItsMemory() throws Exception {
    try (CallClient client = connected()) {
      CallException late =
          assertThrows(
              CallException.class,
              () -> client.call(Method.WATCH, new byte[10], Duration.ofMillis(50)));
      assertTrue(late.isSent());
      IncomingCall waiting = held.take();
      assertEquals(10, server.reservedBytes());
      waiting.answer(CallAnswer.because(Outcome.REFUSED, "too late"));
      byte[] body = {1, 2, 3};
      assertArrayEquals(reversed(body), client.call(Method.QUERY, body, LONG).body());
      assertEquals(0, server.reservedBytes());
    }
  }

  @Test
  void callsBeyondTheTermsWaitAndCallsBeyondTheBudgetAreRefused() throws Exception {
    port.close();
    server.close();
    listen(new CallServerConfig.Limits(8, 8, 2, Wire.CALL_BYTES_MAX, Wire.ANSWER_BYTES_MAX));
    try (CallClient client = connected()) {
      for (int i = 0; i < 3; i++) {
        Thread.ofVirtual().start(() -> callQuietly(client));
      }
      held.take();
      IncomingCall second = held.take();
      assertTrue(held.isEmpty(), "the third waits at the client");
      CallAnswer[] tooMuch = new CallAnswer[1];
      Thread asking =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      tooMuch[0] = client.call(Method.QUERY, new byte[Wire.CALL_BYTES_MAX], LONG);
                    } catch (Exception e) {
                      throw new AssertionError(e);
                    }
                  });
      second.answer(CallAnswer.done(new byte[0]));
      held.take().answer(CallAnswer.done(new byte[0]));
      asking.join();
      assertEquals(Outcome.OVERLOADED, tooMuch[0].outcome());
    }
  }

  private static void callQuietly(CallClient client) {
    try {
      client.call(Method.WATCH, new byte[1 << 20], LONG);
    } catch (CallException | InterruptedException e) {
      // The test has ended.
    }
  }

  @Test
  void aWrongSecretOrClusterIsReported() throws Exception {
    refused(HandshakeFault.NOT_AUTHENTIC, cluster, secret("another secret, as long"));
    refused(HandshakeFault.WRONG_CLUSTER, UUID.randomUUID(), SECRET);
    assertTrue(held.isEmpty());
  }

  private void refused(HandshakeFault fault, UUID ofCluster, ClusterSecret secret)
      throws Exception {
    try (CallClient client = client(ofCluster, secret, port.address().getPort())) {
      while (client.status().failure() == null) {
        Thread.sleep(5);
      }
      assertEquals(
          fault, assertInstanceOf(HandshakeException.class, client.status().failure()).fault());
      assertFalse(client.isConnected());
      CallException refusal =
          assertThrows(CallException.class, () -> client.call(Method.WATCH, new byte[1], LONG));
      assertFalse(refusal.isSent());
    }
  }

  /** Whatever happens to its connection, a call ends, and an answer is that of its own call. */
  @Test
  void brokenConnectionsNeverMixAnswers() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    List<Fault> faults = List.of(Fault.CUT, Fault.CORRUPT, Fault.HALF_CLOSE, Fault.DRIBBLE);
    try (FaultyProxy proxy = new FaultyProxy(port.address().getPort(), false);
        CallClient client = client(cluster, SECRET, proxy.port())) {
      for (int round = 0; round < 12; round++) {
        proxy.plan(
            new FaultyProxy.Plan(
                faults.get(round % faults.size()), random.nextBoolean(), random.nextInt(200_000)));
        proxy.cutAll();
        byte[] body = new byte[random.nextInt(300_000)];
        random.nextBytes(body);
        byte[] answer = null;
        while (answer == null) {
          try {
            client.awaitConnected(LONG);
            answer = client.call(Method.QUERY, body, LONG).body();
          } catch (CallException e) {
            // Its connection broke: the next one is whole.
          }
        }
        assertTrue(Arrays.equals(reversed(body), answer), "seed " + seed + ", round " + round);
      }
    }
  }
}
