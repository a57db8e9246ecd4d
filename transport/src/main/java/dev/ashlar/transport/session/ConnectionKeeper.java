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
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a connection to another process: reconnects until it is closed. */
public final class ConnectionKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionKeeper.class);

  /** Minimum interval of log lines about the same outage. */
  private static final Duration LOG_INTERVAL = Duration.ofMinutes(1);

  private final Endpoint peer;
  private final EventLoops loops;
  private final Backoff backoff;
  private final RandomGenerator random;
  private final Supplier<? extends Attempt> attempts;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable BackgroundThread connecting;
  private @Nullable Attempt current;
  private @Nullable IOException failure;
  private long connections;
  private long loggedNanos;
  private boolean isConnected;

  /** One attempt to connect, and the connection that it makes. */
  public interface Attempt {
    void connect(EventLoops loops, InetSocketAddress address);

    /** Returns why it ended. */
    IOException awaitClosed() throws InterruptedException;

    void close(String reason);
  }

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
  public record Status(boolean isConnected, long connections, @Nullable IOException failure) {}

  /**
   * @param random spreads the pauses, so that processes do not reconnect at the same moment
   * @param attempts makes the next attempt
   */
  public ConnectionKeeper(
      Endpoint peer,
      EventLoops loops,
      Backoff backoff,
      RandomGenerator random,
      Supplier<? extends Attempt> attempts) {
    this.peer = peer;
    this.loops = loops;
    this.backoff = backoff;
    this.random = random;
    this.attempts = attempts;
  }

  /** Starts connecting; to be called once. */
  public void start() {
    lock.lock();
    try {
      connecting = BackgroundThread.start("connect-" + peer, this::keepConnected);
    } finally {
      lock.unlock();
    }
  }

  public Status status() {
    lock.lock();
    try {
      return new Status(isConnected, connections, failure);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until it is connected; false after the timeout. */
  public boolean awaitConnected(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (!isConnected && left > 0) {
        left = changed.awaitNanos(left);
      }
      return isConnected;
    } finally {
      lock.unlock();
    }
  }

  /** Called by the attempt, on its event loop, when the handshake is over. */
  public void connected() {
    lock.lock();
    try {
      isConnected = true;
      connections++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.info("connected to {}", peer);
  }

  private void keepConnected() throws InterruptedException {
    int failures = 0;
    while (true) {
      Attempt attempt = attempts.get();
      long before = connectionsSoFar();
      IOException why;
      try {
        why = connectAndAwaitEnd(attempt);
      } finally {
        attempt.close("closed");
      }
      failures = connectionsSoFar() > before ? 1 : failures + 1;
      lost(why);
      TimeUnit.NANOSECONDS.sleep(pauseNanos(failures));
    }
  }

  private IOException connectAndAwaitEnd(Attempt attempt) throws InterruptedException {
    InetSocketAddress resolved;
    try {
      // Not on an event loop, because resolving a name may block.
      resolved = new InetSocketAddress(InetAddress.getByName(peer.host()), peer.port());
    } catch (IOException e) {
      return new IOException("unknown host " + peer.host(), e);
    }
    setCurrent(attempt);
    attempt.connect(loops, resolved);
    return attempt.awaitClosed();
  }

  private void setCurrent(Attempt attempt) {
    lock.lock();
    try {
      current = attempt;
    } finally {
      lock.unlock();
    }
  }

  private long connectionsSoFar() {
    lock.lock();
    try {
      return connections;
    } finally {
      lock.unlock();
    }
  }

  private void lost(IOException why) {
    boolean isNews;
    lock.lock();
    try {
      IOException before = failure;
      long now = System.nanoTime();
      boolean isLongAgo = now - loggedNanos > LOG_INTERVAL.toNanos();
      isNews = isConnected || before == null || (isLongAgo && !sameMessage(before, why));
      loggedNanos = isNews ? now : loggedNanos;
      isConnected = false;
      failure = why;
    } finally {
      lock.unlock();
    }
    if (isNews) {
      LOG.warn("no connection to {}: {}", peer, why.getMessage());
    }
  }

  private static boolean sameMessage(IOException one, IOException other) {
    return String.valueOf(one.getMessage()).equals(other.getMessage());
  }

  /** Doubles with each failure up to a limit; randomised. */
  private long pauseNanos(int failures) {
    long first = backoff.first().toNanos();
    long pause = Math.min(backoff.most().toNanos(), first << Math.min(failures - 1, 20));
    return pause / 2 + random.nextLong(pause / 2 + 1);
  }

  /** Ends the connection and fails what waits for it. */
  @Override
  public void close() {
    BackgroundThread thread;
    lock.lock();
    try {
      thread = connecting;
    } finally {
      lock.unlock();
    }
    if (thread != null) {
      thread.close();
    }
    Attempt last;
    lock.lock();
    try {
      last = current;
      isConnected = false;
    } finally {
      lock.unlock();
    }
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
