package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.session.RateLimitedLog;
import dev.ashlar.transport.session.ServerGreeting;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes the calls of other processes of the cluster, from construction on until it is closed. */
public final class CallServer implements FramePort.Service, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CallServer.class);
  private static final Set<Role> CLIENTS = EnumSet.allOf(Role.class);

  private final CallServerConfig config;
  private final CallHandler handler;
  private final PeerIdentity side;
  private final SlabPool slabs = new SlabPool(1 << 20);
  private final RateLimitedLog refusals = new RateLimitedLog(LOG);
  private final Set<CallServerConnection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger greetings = new AtomicInteger();
  private final AtomicInteger welcomes = new AtomicInteger();
  private final AtomicLong callBytes = new AtomicLong();
  private volatile boolean isClosed;

  /**
   * @param port brings the connections; it stays the caller's
   */
  public CallServer(CallServerConfig config, FramePort port, CallHandler handler) {
    this.config = config;
    this.handler = handler;
    side = new PeerIdentity(Wire.VERSION, Role.METADATA, config.cluster(), UUID.randomUUID());
    port.serveCalls(this);
  }

  @Override
  public FrameHandler accept(FrameConnection frames) {
    CallServerConnection connection = new CallServerConnection(this, frames);
    connections.add(connection);
    return connection;
  }

  CallServerConfig.Limits limits() {
    return config.limits();
  }

  CallHandler handler() {
    return handler;
  }

  SlabPool slabs() {
    return slabs;
  }

  ServerGreeting newGreeting() {
    return new ServerGreeting(side, config.secret(), CLIENTS, List.of());
  }

  /** Counts one more peer that has not proved itself; false if there are too many. */
  boolean beginGreeting() {
    return !isClosed && enter(greetings, config.limits().greetingsMax());
  }

  void endGreeting() {
    greetings.decrementAndGet();
  }

  boolean beginService() {
    return !isClosed && enter(welcomes, config.limits().connectionsMax());
  }

  void endService() {
    welcomes.decrementAndGet();
  }

  private static boolean enter(AtomicInteger count, int max) {
    if (count.incrementAndGet() > max) {
      count.decrementAndGet();
      return false;
    }
    return true;
  }

  /** Takes so much of what all calls together may hold; false if there is not so much left. */
  boolean reserve(int bytes) {
    if (callBytes.addAndGet(bytes) > config.limits().callBytesMax()) {
      callBytes.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void release(int bytes) {
    callBytes.addAndGet(-bytes);
  }

  /** Bytes of the calls that are not answered. */
  public long reservedBytes() {
    return callBytes.get();
  }

  void warn(String what) {
    refusals.warn(what);
  }

  void closed(CallServerConnection connection, IOException why, boolean isKnown) {
    connections.remove(connection);
    String text = "connection of " + connection.peer() + " ended: " + why.getMessage();
    boolean isForeign = !isKnown && !(why instanceof HandshakeException);
    if (isForeign || why instanceof WireFormatException) {
      warn(text);
    } else {
      LOG.debug("{}", text);
    }
  }

  /** Ends all connections; what is called has no answer any more. */
  @Override
  public void close() {
    isClosed = true;
    connections.forEach(connection -> connection.close("the process is shutting down"));
  }
}
