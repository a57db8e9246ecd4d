package dev.ashlar.transport.session;

import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Another process, to which a connection is kept: it is made anew whenever it is lost, until this
 * is closed.
 */
public abstract class RemoteProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteProcess.class);

  /** Minimum interval of log lines about the same outage. */
  private static final Duration LOG_INTERVAL = Duration.ofMinutes(1);

  private final Endpoint peer;
  private final EventLoops loops;
  private final Backoff backoff;
  private final RandomGenerator random;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile Status status = new Status(false, 0, null);
  private volatile @Nullable BackgroundThread connecting;
  private volatile @Nullable ClientSession<?> current;
  private long loggedNanos;

  /**
   * Pauses between attempts to connect; they double with each failure.
   *
   * @param first the shortest pause
   * @param most the longest pause
   */
  public record Backoff(Duration first, Duration most) {
    public static final Backoff DEFAULT = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(3));

    public Backoff {
      if (!first.isPositive() || most.compareTo(first) < 0) {
        throw new IllegalArgumentException("needs positive times");
      }
    }
  }

  /**
   * @param connections how often it has connected
   * @param failure why it is not connected, or last was not: a {@link
   *     dev.ashlar.protocol.wire.HandshakeException} when the other side refused or is a wrong one
   */
  public record Status(boolean isConnected, long connections, @Nullable IOException failure) {
    private Status connected() {
      return new Status(true, connections + 1, failure);
    }

    private Status lost(@Nullable IOException why) {
      return new Status(false, connections, why);
    }
  }

  /**
   * @param loops the caller closes them
   * @param random spreads the pauses, so that processes do not reconnect at the same moment
   */
  protected RemoteProcess(
      Endpoint peer, EventLoops loops, Backoff backoff, RandomGenerator random) {
    this.peer = peer;
    this.loops = loops;
    this.backoff = backoff;
    this.random = random;
  }

  /** Makes the session of the next attempt. */
  protected abstract ClientSession<?> newSession();

  /** Starts connecting; to be called once. */
  protected final void start() {
    connecting = BackgroundThread.start("connect-" + peer, this::keepConnected);
  }

  public final Endpoint peer() {
    return peer;
  }

  @Override
  public final String toString() {
    return peer.toString();
  }

  public final Status status() {
    return status;
  }

  /** Waits until it is connected; false after the timeout. */
  public final boolean awaitConnected(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (!status.isConnected() && left > 0) {
        left = changed.awaitNanos(left);
      }
      return status.isConnected();
    } finally {
      lock.unlock();
    }
  }

  /** Changes the status; returns the one before. */
  private Status update(UnaryOperator<Status> change) {
    lock.lock();
    try {
      Status before = status;
      status = change.apply(before);
      changed.signalAll();
      return before;
    } finally {
      lock.unlock();
    }
  }

  /** To be called on the session's event loop when the handshake is over. */
  protected final void connected() {
    update(Status::connected);
    LOG.info("Connected to {}.", peer);
  }

  private void keepConnected() throws InterruptedException {
    int failures = 0;
    while (true) {
      ClientSession<?> session = newSession();
      long before = status.connections();
      IOException why;
      try {
        why = connectAndAwaitEnd(session);
      } finally {
        session.close("closed");
      }
      failures = status.connections() > before ? 1 : failures + 1;
      lost(why);
      TimeUnit.NANOSECONDS.sleep(pauseNanos(failures));
    }
  }

  private IOException connectAndAwaitEnd(ClientSession<?> session) throws InterruptedException {
    InetSocketAddress resolved;
    try {
      // Not on an event loop, because resolving a name may block.
      resolved = new InetSocketAddress(InetAddress.getByName(peer.host()), peer.port());
    } catch (IOException e) {
      return new IOException("unknown host " + peer.host(), e);
    }
    current = session;
    session.connect(loops, resolved);
    return session.awaitClosed();
  }

  private void lost(IOException why) {
    Status before = update(now -> now.lost(why));
    IOException known = before.failure();
    long now = System.nanoTime();
    boolean isOther = now - loggedNanos > LOG_INTERVAL.toNanos() && !sameMessage(known, why);
    if (before.isConnected() || known == null || isOther) {
      loggedNanos = now;
      LOG.warn("No connection to {}: {}", peer, why.getMessage());
    }
  }

  private static boolean sameMessage(@Nullable IOException one, IOException other) {
    return one != null && String.valueOf(one.getMessage()).equals(other.getMessage());
  }

  /** Doubles with each failure up to a limit; randomised. */
  private long pauseNanos(int failures) {
    long first = backoff.first().toNanos();
    long pause = Math.min(backoff.most().toNanos(), first << Math.min(failures - 1, 20));
    return pause / 2 + random.nextLong(pause / 2 + 1);
  }

  /** Ends the connection and fails what waits for it. */
  @Override
  public final void close() {
    BackgroundThread.closeIfStarted(connecting);
    ClientSession<?> last = current;
    update(now -> now.lost(now.failure()));
    if (last != null) {
      last.close("closed");
      try {
        last.awaitClosed();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
