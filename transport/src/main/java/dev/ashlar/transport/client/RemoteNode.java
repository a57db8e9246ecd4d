package dev.ashlar.transport.client;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.thread.BackgroundThread;
import dev.ashlar.transport.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A storage node of another process. From construction on it keeps a connection, until it is
 * closed; its drives take nothing while there is none. One connection carries everything: requests
 * for a drive that is slow wait here, not in it.
 */
public final class RemoteNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

  private final NodeConfig config;
  private final EventLoops loops;
  private final RandomGenerator random;
  private final Map<UUID, RemoteShardStore> stores = new LinkedHashMap<>();
  // The node lets one connection at a time speak for this, so that none overtakes the one before.
  private final UUID instance = UUID.randomUUID();
  private final BackgroundThread connecting;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable ClientConnection current;
  private @Nullable IOException failure;
  private long connections;
  private boolean isConnected;

  /**
   * @param isConnected now
   * @param connections how often it has been connected
   * @param failure why it is not connected, or was not before: a {@link
   *     dev.ashlar.protocol.wire.HandshakeException} where the other side is not what is expected
   */
  public record Status(boolean isConnected, long connections, @Nullable IOException failure) {}

  /**
   * @param loops stay the caller's
   * @param slabs for what is read
   * @param random for pauses between tries, so that not all processes try at the same moment
   */
  public RemoteNode(NodeConfig config, EventLoops loops, SlabPool slabs, RandomGenerator random) {
    this.config = config;
    this.loops = loops;
    this.random = random;
    for (DriveId drive : config.drives()) {
      stores.put(drive.id(), new RemoteShardStore(drive, config, slabs));
    }
    connecting = BackgroundThread.start("connect-" + address(), this::keepConnected);
  }

  /** The drive, or null if it is not expected there. */
  public @Nullable RemoteShardStore store(UUID drive) {
    return stores.get(drive);
  }

  public String address() {
    return config.host() + ":" + config.port();
  }

  @Override
  public String toString() {
    return address();
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

  /** Told by the connection, on its event loop. */
  void connected(List<DriveId> missing) {
    lock.lock();
    try {
      isConnected = true;
      connections++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.info("connected with {}", this);
    if (!missing.isEmpty()) {
      LOG.warn("{} does not serve {}, or only in an older life", this, missing);
    }
  }

  private void keepConnected() throws InterruptedException {
    int failures = 0;
    while (true) {
      ClientConnection connection = new ClientConnection(this, config, instance);
      long before = connectionsSoFar();
      IOException why;
      try {
        why = connectAndAwaitEnd(connection);
      } finally {
        connection.close("closed");
      }
      failures = connectionsSoFar() > before ? 1 : failures + 1;
      lost(why);
      TimeUnit.NANOSECONDS.sleep(pauseNanos(failures));
    }
  }

  private IOException connectAndAwaitEnd(ClientConnection connection) throws InterruptedException {
    InetSocketAddress resolved;
    try {
      // Here and not on an event loop: looking up a name may block.
      resolved = new InetSocketAddress(InetAddress.getByName(config.host()), config.port());
    } catch (IOException e) {
      return new IOException("unknown host " + config.host(), e);
    }
    setCurrent(connection);
    connection.connect(loops, resolved);
    return connection.awaitClosed();
  }

  private void setCurrent(ClientConnection connection) {
    lock.lock();
    try {
      current = connection;
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
      isNews = isConnected || before == null || !sameMessage(before, why);
      isConnected = false;
      failure = why;
    } finally {
      lock.unlock();
    }
    if (isNews) {
      LOG.warn("no connection with {}: {}", this, why.getMessage());
    }
  }

  private static boolean sameMessage(IOException one, IOException other) {
    return String.valueOf(one.getMessage()).equals(other.getMessage());
  }

  /** Longer with each failure, up to a bound, and never the same for all. */
  private long pauseNanos(int failures) {
    long first = config.times().retryFirst().toNanos();
    long most = config.times().retryMax().toNanos();
    long pause = Math.min(most, first << Math.min(failures - 1, 20));
    return pause / 2 + random.nextLong(pause / 2 + 1);
  }

  /** Ends the connection; what is under way ends with it. */
  @Override
  public void close() {
    connecting.close();
    ClientConnection last;
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
