package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.session.ServerSessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves drives to other processes, from construction until it is closed. Their owner closes the
 * drives afterwards.
 */
public final class ShardServer implements AutoCloseable {
  /** Bytes that a drive may read beyond a request: the rest of the blocks at both ends. */
  static final int READ_OVERHEAD_BYTES = 2 * Profile.BLOCK_BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(ShardServer.class);

  private static final Set<Role> CLIENTS = EnumSet.complementOf(EnumSet.of(Role.STORAGE_NODE));
  private static final Duration STATE_PERIOD = Duration.ofMillis(50);
  private static final int LISTING_THREADS = 2;
  private static final int LISTINGS_WAITING_MAX = 64;

  private final ShardServerConfig config;
  private final List<ShardStore> drives;
  private final SlabPool slabs;
  private final ByteBudget budget;
  private final ServerSessions<ShardServerSession> sessions;
  private final Map<UUID, ClientConnections> clients = new ConcurrentHashMap<>();
  private final AtomicInteger underWay = new AtomicInteger();
  private final ThreadPoolExecutor listings;
  private final ScheduledExecutorService watch;

  /**
   * @param port accepts the connections; the caller closes it before this
   * @param slabs receive what is written
   */
  public ShardServer(
      ShardServerConfig config, FramePort port, List<? extends ShardStore> drives, SlabPool slabs) {
    if (drives.isEmpty() || drives.size() > Wire.DRIVES_MAX) {
      throw new IllegalArgumentException(drives.size() + " drives");
    }
    this.config = config;
    this.drives = List.copyOf(drives);
    this.slabs = slabs;
    budget = new ByteBudget(config.limits().dataBytesMax());
    sessions =
        new ServerSessions<>(
            new ServerSessions.Admission(
                PeerIdentity.of(Role.STORAGE_NODE, config.cluster()),
                config.secret(),
                CLIENTS,
                drives.stream().map(drive -> drive.drive().id()).toList(),
                config.limits().handshakesMax(),
                config.limits().connectionsMax()));
    listings =
        new ThreadPoolExecutor(
            LISTING_THREADS,
            LISTING_THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(LISTINGS_WAITING_MAX),
            Thread.ofPlatform().name("shard-listing-", 0).daemon().factory());
    listings.allowCoreThreadTimeOut(true);
    watch =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("shard-server-watch").daemon().factory());
    watchStates();
    port.serveDrives(frames -> sessions.add(new ShardServerSession(this, frames)));
  }

  // The task ends with its thread.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void watchStates() {
    long period = STATE_PERIOD.toNanos();
    @Nullable ShardFault[] last = new ShardFault[drives.size()];
    watch.scheduleWithFixedDelay(() -> look(last), period, period, TimeUnit.NANOSECONDS);
  }

  private void look(@Nullable ShardFault[] last) {
    boolean isNews = false;
    for (int drive = 0; drive < last.length; drive++) {
      ShardFault now = refusal(drive);
      isNews |= now != last[drive];
      last[drive] = now;
    }
    if (isNews) {
      sendStates();
    }
  }

  public int openConnections() {
    return sessions.size();
  }

  /** Bytes of requests and answers that all connections hold. */
  public long reservedBytes() {
    return budget.reservedBytes();
  }

  /** How many warnings about peers were logged. */
  public long warnings() {
    return sessions.warnings();
  }

  // ---- For its connections ----

  ServerSessions<ShardServerSession> sessions() {
    return sessions;
  }

  ShardServerConfig config() {
    return config;
  }

  List<ShardStore> drives() {
    return drives;
  }

  SlabPool slabs() {
    return slabs;
  }

  ByteBudget budget() {
    return budget;
  }

  boolean isKnown(UUID client) {
    return clients.containsKey(client);
  }

  /** Adds the connection to its client's. */
  ClientConnections register(UUID client, ShardServerSession connection) {
    // Under the map's lock, so that the entry is not removed as idle in between.
    return clients.compute(
        client,
        (id, known) -> {
          ClientConnections all = known == null ? new ClientConnections(drives.size()) : known;
          all.expect(connection);
          return all;
        });
  }

  void forgetIfIdle(UUID client, ClientConnections all) {
    clients.computeIfPresent(client, (id, known) -> known == all && all.isIdle() ? null : known);
  }

  HandshakeMessage.Terms terms() {
    List<HandshakeMessage.ServedDrive> served = new ArrayList<>();
    for (int i = 0; i < drives.size(); i++) {
      served.add(new HandshakeMessage.ServedDrive(drives.get(i).drive(), refusal(i)));
    }
    ShardServerConfig.Limits limits = config.limits();
    return new HandshakeMessage.Terms(
        limits.operationsMax(), limits.writeBytesMax(), limits.readBytesMax(), served);
  }

  @Nullable ShardFault refusal(int drive) {
    return sessions.isClosing() ? ShardFault.UNAVAILABLE : drives.get(drive).writeRefusal();
  }

  private void sendStates() {
    sessions.forEach(session -> session.execute(session::sendStates));
  }

  /** Runs a listing on one of a few threads; false if too many wait. */
  boolean list(Runnable listing) {
    try {
      listings.execute(listing);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  void began() {
    underWay.incrementAndGet();
  }

  void ended() {
    underWay.decrementAndGet();
  }

  // ---- The end ----

  /** Refuses new requests, waits a bounded time for those under way, then ends all connections. */
  @Override
  public void close() {
    sessions.beginClose();
    sendStates();
    long deadline = System.nanoTime() + config.drain().toNanos();
    awaitUntil(deadline, () -> underWay.get() == 0);
    sessions.close("the node is shutting down");
    watch.shutdownNow();
    listings.shutdown();
    boolean isDone =
        awaitUntil(deadline + config.drain().toNanos(), () -> sessions.size() == 0)
            && awaitUntil(deadline, () -> underWay.get() == 0);
    if (!isDone) {
      LOG.warn(
          "{} connections and {} operations did not end in time", sessions.size(), underWay.get());
    }
  }

  private static boolean awaitUntil(long deadlineNanos, BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadlineNanos > 0) {
        return false;
      }
      try {
        TimeUnit.MILLISECONDS.sleep(2);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }
}
