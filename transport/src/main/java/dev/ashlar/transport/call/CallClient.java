package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.RemoteProcess;
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
public class CallClient extends RemoteProcess {
  /** How long after its deadline a call is abandoned here if its connection has not done so. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final int callsMax;
  private final ClientSession.Options options;
  private final SlabPool slabs = new SlabPool(Wire.CHUNK_BYTES_MAX);
  private final AtomicInteger calls = new AtomicInteger();
  private volatile @Nullable CallClientSession current;

  /**
   * @param loops the caller closes them
   * @param random spreads the backoff between attempts to connect
   */
  public CallClient(
      Endpoint peer, CallClientConfig config, EventLoops loops, RandomGenerator random) {
    super(peer, loops, config.backoff(), random);
    callsMax = config.callsMax();
    options = config.options();
    start();
  }

  @Override
  protected ClientSession<?> newSession() {
    return new CallClientSession(this, options, slabs);
  }

  public boolean isConnected() {
    return current != null;
  }

  /** Called by the session, on its event loop. */
  void connected(CallClientSession session) {
    current = session;
    connected();
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
      throw new CallException(callsMax + " calls wait for " + this, false);
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
      throw new CallException("no connection to " + this, false);
    }
    try {
      return call.future().get(timeoutNanos + GRACE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof CallException known
          ? known
          : new CallException(String.valueOf(e.getCause()), true);
    } catch (TimeoutException e) {
      session.abandon(call);
      throw new CallException(this + " did not answer in time", true);
    } catch (InterruptedException e) {
      session.abandon(call);
      throw e;
    }
  }
}
