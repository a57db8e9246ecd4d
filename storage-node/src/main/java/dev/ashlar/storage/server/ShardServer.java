package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.session.RateLimitedLog;
import dev.ashlar.transport.session.ServerGreeting;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
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
 * Serves drives to other processes, from construction on until it is closed. The drives stay their
 * owner's, who closes them afterwards.
 */
public final class ShardServer implements AutoCloseable {
  /** What a drive may read beside what it is asked for: the rest of the blocks at both ends. */
  static final int READ_OVERHEAD_BYTES = 2 * Profile.BLOCK_BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(ShardServer.class);

  /** Storage nodes serve drives, they ask for none. */
  private static final Set<Role> CLIENTS = EnumSet.complementOf(EnumSet.of(Role.STORAGE_NODE));

  private static final Duration STATE_PERIOD = Duration.ofMillis(50);
  private static final int LISTING_THREADS = 2;
  private static final int LISTINGS_WAITING_MAX = 64;

  private final ShardServerConfig config;
  private final List<ShardStore> drives;
  private final List<UUID> driveIds;
  private final SlabPool slabs;
  private final PeerIdentity side;
  private final DataBudget budget;
  private final RateLimitedLog refusals = new RateLimitedLog(LOG);
  private final Set<ServerConnection> connections = ConcurrentHashMap.newKeySet();
  private final Map<UUID, ClientConnections> sessions = new ConcurrentHashMap<>();
  private final AtomicInteger greetings = new AtomicInteger();
  private final AtomicInteger underWay = new AtomicInteger();
  private final ThreadPoolExecutor listings;
  private final ScheduledExecutorService watch;
  private volatile @Nullable Channel listener;
  private volatile boolean isClosing;

  /**
   * At an address of its own.
   *
   * @param loops stay the caller's
   * @param slabs for what is to be written
   * @throws IOException when the address cannot be bound
   */
  public ShardServer(
      ShardServerConfig config, EventLoops loops, List<? extends ShardStore> drives, SlabPool slabs)
      throws IOException {
    this(config, drives, slabs);
    ChannelFuture bound =
        loops.listen(config.listen(), config.tls(), this::accept).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      listings.shutdown();
      watch.shutdown();
      throw new IOException("cannot listen on " + config.listen(), bound.cause());
    }
    listener = bound.channel();
  }

  /**
   * At a port where the process may serve other things too.
   *
   * @param config whose address and TLS do not matter
   * @param port stays the caller's, who closes it first
   * @param slabs for what is to be written
   */
  public ShardServer(
      ShardServerConfig config, FramePort port, List<? extends ShardStore> drives, SlabPool slabs) {
    this(config, drives, slabs);
    port.serveDrives(frames -> connection(new ServerConnection(this, frames)));
  }

  private ShardServer(ShardServerConfig config, List<? extends ShardStore> drives, SlabPool slabs) {
    if (drives.isEmpty() || drives.size() > Wire.DRIVES_MAX) {
      throw new IllegalArgumentException(drives.size() + " drives");
    }
    this.config = config;
    this.drives = List.copyOf(drives);
    this.driveIds = drives.stream().map(drive -> drive.drive().id()).toList();
    this.slabs = slabs;
    side = new PeerIdentity(Wire.VERSION, Role.STORAGE_NODE, config.cluster(), UUID.randomUUID());
    budget = new DataBudget(config.limits().dataBytesMax());
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
      tellStates();
    }
  }

  /** Where it listens by itself, with the port it got. */
  public InetSocketAddress address() {
    Channel own = listener;
    if (own == null) {
      throw new IllegalStateException("it has no address of its own");
    }
    return (InetSocketAddress) own.localAddress();
  }

  /** Connections, of whomever. */
  public int openConnections() {
    return connections.size();
  }

  /** Bytes that all connections together hold, or are about to read. */
  public long reservedBytes() {
    return budget.bytes();
  }

  /** How often it has warned of what peers did. */
  public long warnings() {
    return refusals.logged();
  }

  // ---- For its connections ----

  private FrameConnection accept() {
    return connection(new ServerConnection(this)).frames();
  }

  private ServerConnection connection(ServerConnection accepted) {
    connections.add(accepted);
    return accepted;
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

  DataBudget budget() {
    return budget;
  }

  boolean isClosing() {
    return isClosing;
  }

  void warn(String what) {
    refusals.warn(what);
  }

  ServerGreeting newGreeting() {
    return new ServerGreeting(side, config.secret(), CLIENTS, driveIds);
  }

  /** Counts one more peer that has not proved itself; false if there are too many. */
  boolean beginGreeting() {
    if (isClosing || greetings.incrementAndGet() > config.limits().greetingsMax()) {
      greetings.decrementAndGet();
      return false;
    }
    return true;
  }

  void endGreeting() {
    greetings.decrementAndGet();
  }

  /** The client's session; null if there are too many connections. */
  @Nullable ClientConnections session(ServerConnection connection, UUID client) {
    long others = connections.stream().filter(each -> each.isWelcome()).count();
    if (others >= config.limits().connectionsMax() && !sessions.containsKey(client)) {
      return null;
    }
    // Within the map's lock: else a session could be forgotten as idle just now.
    return sessions.compute(
        client,
        (id, known) -> {
          ClientConnections session = known == null ? new ClientConnections(drives.size()) : known;
          session.expect(connection);
          return session;
        });
  }

  void forgetIfIdle(UUID client, ClientConnections session) {
    sessions.computeIfPresent(
        client, (id, known) -> known == session && session.isIdle() ? null : known);
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
    return isClosing ? ShardFault.UNAVAILABLE : drives.get(drive).writeRefusal();
  }

  private void tellStates() {
    for (ServerConnection connection : connections) {
      connection.execute(connection::tellStates);
    }
  }

  /** Runs a listing on a thread for that; false if too many wait. */
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

  void closed(ServerConnection connection, IOException why) {
    connections.remove(connection);
    boolean isForeign = !connection.isWelcome() && !(why instanceof HandshakeException);
    if (isForeign || why instanceof WireFormatException) {
      warn("connection of " + connection.frames().peer() + " ended: " + why.getMessage());
    } else {
      LOG.info("connection of {} ended: {}", connection.frames().peer(), why.getMessage());
    }
  }

  // ---- The end ----

  /** Takes nothing new, lets what is under way end within the configured time, then closes. */
  @Override
  public void close() {
    isClosing = true;
    Channel own = listener;
    if (own != null) {
      own.close().awaitUninterruptibly();
    }
    tellStates();
    long deadline = System.nanoTime() + config.drain().toNanos();
    awaitUntil(deadline, () -> underWay.get() == 0);
    connections.forEach(connection -> connection.close("the node is shutting down"));
    watch.shutdownNow();
    listings.shutdown();
    boolean isDone =
        awaitUntil(deadline + config.drain().toNanos(), () -> connections.isEmpty())
            && awaitUntil(deadline, () -> underWay.get() == 0);
    if (!isDone) {
      LOG.warn(
          "{} connections and {} operations are left behind", connections.size(), underWay.get());
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
