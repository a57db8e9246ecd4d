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

/** Makes a connection to another process, and the next one when it ends, until it is closed. */
public final class ConnectionKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionKeeper.class);

  /** Other reasons for the same absence are worth a line so often. */
  private static final Duration SAID_AGAIN = Duration.ofMinutes(1);

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
  private long saidNanos;
  private boolean isConnected;

  /** One connection, from the try on. */
  public interface Attempt {
    void connect(EventLoops loops, InetSocketAddress address);

    /** Returns why it ended. */
    IOException awaitClosed() throws InterruptedException;

    void close(String reason);
  }

  /**
   * @param first from the first failure to connect until the next try; doubled with each
   * @param most the longest of these backoff
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
   * @param isConnected now
   * @param connections how often it has been connected
   * @param failure why it is not connected, or was not before: a {@link
   *     dev.ashlar.protocol.wire.HandshakeException} where the other side is not what is expected
   */
  public record Status(boolean isConnected, long connections, @Nullable IOException failure) {}

  /**
   * @param random for the backoff, so that not all processes try at the same moment
   * @param attempts makes the next one
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

  /** To be called once. */
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

  /** Waits until it is connected; false if it is not by then. */
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

  /** Told by the connection, on its event loop: both sides know each other. */
  public void connected() {
    lock.lock();
    try {
      isConnected = true;
      connections++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.info("connected with {}", peer);
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
      // Here and not on an event loop: looking up a name may block.
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
      boolean isLongAgo = now - saidNanos > SAID_AGAIN.toNanos();
      isNews = isConnected || before == null || (isLongAgo && !sameMessage(before, why));
      saidNanos = isNews ? now : saidNanos;
      isConnected = false;
      failure = why;
    } finally {
      lock.unlock();
    }
    if (isNews) {
      LOG.warn("no connection with {}: {}", peer, why.getMessage());
    }
  }

  private static boolean sameMessage(IOException one, IOException other) {
    return String.valueOf(one.getMessage()).equals(other.getMessage());
  }

  /** Longer with each failure, up to a bound, and never the same for all. */
  private long pauseNanos(int failures) {
    long first = backoff.first().toNanos();
    long pause = Math.min(backoff.most().toNanos(), first << Math.min(failures - 1, 20));
    return pause / 2 + random.nextLong(pause / 2 + 1);
  }

  /** Ends the connection; what is under way ends with it. */
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
