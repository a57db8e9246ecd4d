package dev.ashlar.transport.session;

import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.WireFormatException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The connections that one service of this process has accepted, and who may open more. */
public final class ServerSessions<S extends ServerSession> {
  private static final Logger LOG = LoggerFactory.getLogger(ServerSessions.class);

  private final Admission admission;
  private final RateLimitedLog warnings = new RateLimitedLog(LOG, Level.WARN);
  private final Set<S> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger handshakes = new AtomicInteger();
  private final AtomicInteger established = new AtomicInteger();
  private volatile boolean isClosing;

  /**
   * Which clients are accepted.
   *
   * @param identity of this process
   * @param clients the roles that may connect
   * @param drives a client must expect one of these here; empty: the service is not about drives
   * @param handshakesMax connections that have not authenticated yet
   * @param establishedMax connections that have
   */
  public record Admission(
      PeerIdentity identity,
      ClusterSecret secret,
      Set<Role> clients,
      List<UUID> drives,
      int handshakesMax,
      int establishedMax) {
    boolean hasDriveOf(HandshakeMessage.Hello hello) {
      return drives.isEmpty() || hello.drives().stream().anyMatch(drives::contains);
    }
  }

  public ServerSessions(Admission admission) {
    this.admission = admission;
  }

  /** Keeps the session until its connection has ended. */
  public S add(S session) {
    open.add(session);
    return session;
  }

  public int size() {
    return open.size();
  }

  public void forEach(Consumer<? super S> visitor) {
    open.forEach(visitor);
  }

  /** Whether one more authenticated client may be served. */
  public boolean hasRoom() {
    return !isClosing && established.get() < admission.establishedMax();
  }

  public void warn(String message) {
    warnings.log(message);
  }

  /** How many warnings were logged. */
  public long warnings() {
    return warnings.logged();
  }

  /** Accepts no client any more. */
  public void beginClose() {
    isClosing = true;
  }

  public boolean isClosing() {
    return isClosing;
  }

  /** Ends all connections. */
  public void close(String why) {
    isClosing = true;
    open.forEach(session -> session.close(why));
  }

  // ---- For the sessions ----

  Admission admission() {
    return admission;
  }

  /** Counts one more client that has not authenticated; false if there are too many. */
  boolean beginHandshake() {
    if (isClosing) {
      return false;
    }
    boolean hasRoom = handshakes.incrementAndGet() <= admission.handshakesMax();
    if (!hasRoom) {
      handshakes.decrementAndGet();
    }
    return hasRoom;
  }

  void endHandshake() {
    handshakes.decrementAndGet();
  }

  void established() {
    established.incrementAndGet();
  }

  void closed(ServerSession session, String peer, IOException why) {
    open.remove(session);
    if (session.isEstablished()) {
      established.decrementAndGet();
    }
    String text = "connection of " + peer + " ended: " + why.getMessage();
    if (why instanceof WireFormatException || !session.isEstablished()) {
      if (!(why instanceof HandshakeException)) {
        warnings.log(text);
      }
    } else {
      LOG.info("{}", text);
    }
  }
}
