package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ConnectionKeeper;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Calls one other process. From construction on it keeps a connection, until it is closed; while
 * there is none, calls fail at once. Calls of one thread arrive in their order.
 *
 * <p>Not final for tests, which hold calls up.
 */
public class CallClient implements AutoCloseable {
  /** Past its deadline a call is given up here, should its connection not have done so. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Endpoint peer;
  private final int callsMax;
  private final AtomicInteger calls = new AtomicInteger();
  private final ConnectionKeeper keeper;
  private volatile @Nullable CallConnection current;

  /**
   * @param loops stay the caller's
   * @param random for pauses between tries to connect
   */
  public CallClient(
      Endpoint peer, CallClientConfig config, EventLoops loops, RandomGenerator random) {
    this.peer = peer;
    callsMax = config.callsMax();
    UUID instance = UUID.randomUUID();
    SlabPool slabs = new SlabPool(Wire.CHUNK_BYTES_MAX);
    keeper =
        new ConnectionKeeper(
            peer,
            loops,
            config.pauses(),
            random,
            () -> new CallConnection(this, config, instance, slabs));
    keeper.start();
  }

  public Endpoint peer() {
    return peer;
  }

  @Override
  public String toString() {
    return peer.toString();
  }

  public boolean isConnected() {
    return current != null;
  }

  /** Waits until it is connected; false if it is not by then. */
  public boolean awaitConnected(Duration timeout) throws InterruptedException {
    return keeper.awaitConnected(timeout);
  }

  public ConnectionKeeper.Status status() {
    return keeper.status();
  }

  /** Told by the connection, on its event loop. */
  void connected(CallConnection connection) {
    current = connection;
    keeper.connected();
  }

  void lost(CallConnection connection) {
    if (current == connection) {
      current = null;
    }
  }

  /**
   * Calls, and waits for the answer.
   *
   * @param body at most {@link Wire#CALL_BYTES_MAX} bytes; must not change any more
   * @throws CallException when there is no answer by then
   */
  public CallAnswer call(Method method, byte[] body, Duration timeout)
      throws CallException, InterruptedException {
    if (calls.incrementAndGet() > callsMax) {
      calls.decrementAndGet();
      throw new CallException(callsMax + " calls wait for " + peer, false);
    }
    try {
      return await(method, body, timeout.toNanos());
    } finally {
      calls.decrementAndGet();
    }
  }

  private CallAnswer await(Method method, byte[] body, long timeoutNanos)
      throws CallException, InterruptedException {
    CallConnection connection = current;
    OutgoingCall call = new OutgoingCall(method, body, System.nanoTime() + timeoutNanos);
    if (connection == null || !connection.begin(call)) {
      throw new CallException("no connection to " + peer, false);
    }
    try {
      return call.future().get(timeoutNanos + GRACE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof CallException known
          ? known
          : new CallException(String.valueOf(e.getCause()), true);
    } catch (TimeoutException e) {
      connection.giveUp(call);
      throw new CallException(peer + " did not answer in time", true);
    } catch (InterruptedException e) {
      connection.giveUp(call);
      throw e;
    }
  }

  /** Ends the connection; what is under way ends with it. */
  @Override
  public void close() {
    keeper.close();
  }
}
