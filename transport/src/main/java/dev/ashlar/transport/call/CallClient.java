package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.ConnectionKeeper;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Calls one other process. It keeps a connection from construction until it is closed; while there
 * is none, calls fail immediately. Calls of one thread arrive in order.
 *
 * <p>Not final, so that tests can delay calls.
 */
public class CallClient implements AutoCloseable {
  /** How long after its deadline a call is abandoned here if its connection has not done so. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Endpoint peer;
  private final int callsMax;
  private final AtomicInteger calls = new AtomicInteger();
  private final ConnectionKeeper keeper;
  private volatile @Nullable CallClientSession current;

  /**
   * @param loops the caller closes them
   * @param random spreads the backoff between attempts to connect
   */
  public CallClient(
      Endpoint peer, CallClientConfig config, EventLoops loops, RandomGenerator random) {
    this.peer = peer;
    callsMax = config.callsMax();
    ClientSession.Options options = config.options();
    SlabPool slabs = new SlabPool(Wire.CHUNK_BYTES_MAX);
    keeper =
        new ConnectionKeeper(
            peer,
            loops,
            config.backoff(),
            random,
            () -> new CallClientSession(this, options, slabs));
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

  /** Waits until it is connected; false after the timeout. */
  public boolean awaitConnected(Duration timeout) throws InterruptedException {
    return keeper.awaitConnected(timeout);
  }

  public ConnectionKeeper.Status status() {
    return keeper.status();
  }

  /** Called by the session, on its event loop. */
  void connected(CallClientSession session) {
    current = session;
    keeper.connected();
  }

  void lost(CallClientSession session) {
    if (current == session) {
      current = null;
    }
  }

  /**
   * Calls, and waits for the answer.
   *
   * @param body at most {@link Wire#CALL_BYTES_MAX} bytes; must not change any more
   * @throws CallException when there is no answer in time
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
    CallClientSession session = current;
    OutgoingCall call = new OutgoingCall(method, body, System.nanoTime() + timeoutNanos);
    if (session == null || !session.begin(call)) {
      throw new CallException("no connection to " + peer, false);
    }
    try {
      return call.future().get(timeoutNanos + GRACE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof CallException known
          ? known
          : new CallException(String.valueOf(e.getCause()), true);
    } catch (TimeoutException e) {
      session.abandon(call);
      throw new CallException(peer + " did not answer in time", true);
    } catch (InterruptedException e) {
      session.abandon(call);
      throw e;
    }
  }

  /** Ends the connection and fails the calls under way. */
  @Override
  public void close() {
    keeper.close();
  }
}
