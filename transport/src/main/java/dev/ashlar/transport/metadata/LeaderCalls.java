package dev.ashlar.transport.metadata;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.LeaderHint;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Calls the leading metadata peer: the last known leader, the peer that others name, or each peer
 * in turn. A call without an answer is repeated with the same bytes; a repeated command is
 * recognised by its session and request number.
 */
final class LeaderCalls implements AutoCloseable {
  /** Limit of one attempt: the leader may be cut off from the others without knowing. */
  private static final long TRY_NANOS_MAX = Duration.ofSeconds(3).toNanos();

  /** The most peers that answers may name. */
  private static final int PEERS_MAX = 16;

  private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

  private final List<Endpoint> configured;
  private final Function<Endpoint, CallClient> connector;
  private final long timeoutNanos;
  private final ReentrantLock peersLock = new ReentrantLock();
  private volatile List<CallClient> peers = List.of();
  private volatile CallClient leader;
  private volatile boolean isClosed;

  LeaderCalls(RemoteMetadataConfig config, EventLoops loops) {
    SecureRandom random = new SecureRandom();
    connector = peer -> new CallClient(peer, config.calls(), loops, random);
    configured = config.peers().stream().distinct().toList();
    peers = configured.stream().map(connector).toList();
    leader = peers.getFirst();
    timeoutNanos = config.timeout().toNanos();
  }

  /**
   * Sets the peers of the Raft group; the configured ones are kept too.
   *
   * @return whether the peers have changed
   */
  boolean setPeers(Collection<Endpoint> group) {
    Set<Endpoint> wanted = new LinkedHashSet<>(configured);
    wanted.addAll(group);
    return connect(wanted);
  }

  /** Adds a peer until the peers are set again. */
  private void add(Endpoint peer) {
    Set<Endpoint> wanted = new LinkedHashSet<>(endpoints());
    if (wanted.size() < PEERS_MAX && wanted.add(peer)) {
      connect(wanted);
    }
  }

  private Set<Endpoint> endpoints() {
    return peers.stream().map(CallClient::peer).collect(Collectors.toSet());
  }

  private boolean connect(Set<Endpoint> wanted) {
    List<CallClient> left;
    peersLock.lock();
    try {
      if (isClosed || endpoints().equals(wanted)) {
        return false;
      }
      Map<Endpoint, CallClient> present = new HashMap<>();
      peers.forEach(peer -> present.put(peer.peer(), peer));
      left = peers.stream().filter(peer -> !wanted.contains(peer.peer())).toList();
      peers = wanted.stream().map(peer -> present.computeIfAbsent(peer, connector)).toList();
    } finally {
      peersLock.unlock();
    }
    left.forEach(CallClient::close);
    return true;
  }

  /** The state of one call. */
  private static final class Progress {
    private final long endNanos;

    /** Whether any attempt may have taken effect. */
    private boolean isUncertain;

    private String last = "no metadata peer is connected";

    /** Peers that failed in this round. No peer is called twice before all others were. */
    private final Set<CallClient> askedInVain = new HashSet<>();

    Progress(long endNanos) {
      this.endNanos = endNanos;
    }

    long leftNanos() {
      return endNanos - System.nanoTime();
    }

    MetadataUnavailableException end() {
      String message = "metadata did not answer in time: " + last;
      return isUncertain
          ? MetadataUnavailableException.unknown(message, new CallException(last, true))
          : MetadataUnavailableException.refused(message);
    }
  }

  /** Returns the answer of the leader. Interruption does not end the call, its deadline does. */
  byte[] call(Method method, byte[] body) throws MetadataUnavailableException {
    if (body.length > Wire.CALL_BYTES_MAX) {
      throw MetadataUnavailableException.refused("a call of " + body.length + " bytes");
    }
    Progress progress = new Progress(System.nanoTime() + timeoutNanos);
    boolean isInterrupted = false;
    try {
      while (!isClosed && progress.leftNanos() > 0) {
        try {
          CallAnswer answer = tryOnce(method, body, progress);
          if (answer != null) {
            return answer.body();
          }
          LockSupport.parkNanos(PAUSE_NANOS);
        } catch (InterruptedException e) {
          isInterrupted = true;
          progress.isUncertain = true;
        }
      }
      throw progress.end();
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** One attempt; null: try again. */
  private @Nullable CallAnswer tryOnce(Method method, byte[] body, Progress progress)
      throws MetadataUnavailableException, InterruptedException {
    CallClient peer = leader;
    if (!peer.isConnected()) {
      HandshakeException refusal = refusal();
      if (refusal != null) {
        progress.last = String.valueOf(refusal.getMessage());
        throw progress.end();
      }
      pass(peer, progress);
      return null;
    }
    CallAnswer answer;
    try {
      long nanos = Math.min(TRY_NANOS_MAX, progress.leftNanos());
      answer = peer.call(method, body, Duration.ofNanos(Math.max(1, nanos)));
    } catch (CallException e) {
      progress.isUncertain |= e.isSent();
      progress.last = String.valueOf(e.getMessage());
      pass(peer, progress);
      return null;
    }
    switch (answer.outcome()) {
      case DONE -> {
        return answer;
      }
      case NOT_LEADER -> {
        progress.last = peer + " is not the leader";
        follow(peer, answer, progress);
      }
      case REFUSED -> {
        progress.last = peer + ": " + answer.text();
        pass(peer, progress);
      }
      case UNKNOWN -> {
        progress.isUncertain = true;
        progress.last = peer + ": " + answer.text();
        pass(peer, progress);
      }
      case OVERLOADED, FAILED -> {
        if (!progress.isUncertain) {
          throw MetadataUnavailableException.refused(peer + ": " + answer.text());
        }
        progress.last = peer + ": " + answer.text();
        throw progress.end();
      }
    }
    return null;
  }

  /** Why most peers refuse this process, unless it may pass with time; null if they do not. */
  @Nullable HandshakeException refusal() {
    int refusals = 0;
    HandshakeException last = null;
    List<CallClient> asked = peers;
    for (CallClient peer : asked) {
      if (!peer.isConnected()
          && peer.status().failure() instanceof HandshakeException why
          && why.fault() != HandshakeFault.BUSY) {
        refusals++;
        last = why;
      }
    }
    return refusals > asked.size() / 2 ? last : null;
  }

  /** Moves on to the next peer, unless another call has found a leader meanwhile. */
  private void pass(CallClient asked, Progress progress) {
    List<CallClient> present = peers;
    progress.askedInVain.add(asked);
    if (progress.askedInVain.containsAll(present)) {
      progress.askedInVain.clear();
    }
    if (!leader.equals(asked)) {
      return;
    }
    CallClient next = asked;
    do {
      next = present.get((present.indexOf(next) + 1) % present.size());
    } while (progress.askedInVain.contains(next));
    leader = next;
  }

  /**
   * Moves on to the peer that this one names as leader, unless it was called in this round: a peer
   * that is cut off may name a former leader. Does nothing if another call has found a leader.
   */
  private void follow(CallClient asked, CallAnswer answer, Progress progress) {
    Optional<Endpoint> named = named(answer);
    named.ifPresent(this::add);
    Optional<CallClient> next =
        peers.stream()
            .filter(peer -> named.isPresent() && peer.peer().equals(named.get()))
            .filter(peer -> !progress.askedInVain.contains(peer))
            .findFirst();
    if (next.isPresent()) {
      progress.askedInVain.add(asked);
      if (leader.equals(asked)) {
        leader = next.get();
      }
    } else {
      pass(asked, progress);
    }
  }

  private static Optional<Endpoint> named(CallAnswer answer) {
    try {
      String address = LeaderHint.parseFrom(answer.body()).getAddress();
      return address.isEmpty() ? Optional.empty() : Optional.of(Endpoint.parse(address));
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    List<CallClient> open;
    peersLock.lock();
    try {
      isClosed = true;
      open = peers;
    } finally {
      peersLock.unlock();
    }
    open.forEach(CallClient::close);
  }
}
