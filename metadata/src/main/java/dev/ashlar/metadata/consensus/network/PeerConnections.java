package dev.ashlar.metadata.consensus.network;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Connections to peers in other processes, by address. */
public final class PeerConnections implements AutoCloseable {
  private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);

  private final Endpoint self;
  private final Function<Endpoint, CallClient> calls;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Endpoint, CallClient> clients = new LinkedHashMap<>();
  private boolean isClosed;

  /**
   * @param self the address of this process
   * @param calls creates a client of the peer at an address, which this closes
   */
  public PeerConnections(Endpoint self, Function<Endpoint, CallClient> calls) {
    this.self = self;
    this.calls = calls;
  }

  /** The connection to this address, created on first use. */
  CallClient client(Endpoint peer) {
    lock.lock();
    try {
      if (isClosed) {
        throw new IllegalStateException("closed");
      }
      return clients.computeIfAbsent(peer, calls);
    } finally {
      lock.unlock();
    }
  }

  /** Connects to these peers, except to this process; does nothing once closed. */
  public void add(Collection<Endpoint> peers) {
    lock.lock();
    try {
      if (!isClosed) {
        peers.stream().filter(peer -> !peer.equals(self)).forEach(this::client);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Closes all connections except those to these peers. */
  public void retain(Collection<Endpoint> peers) {
    List<CallClient> left;
    lock.lock();
    try {
      left =
          clients.entrySet().stream()
              .filter(client -> !peers.contains(client.getKey()))
              .map(Map.Entry::getValue)
              .toList();
      clients.keySet().retainAll(peers);
    } finally {
      lock.unlock();
    }
    left.forEach(CallClient::close);
  }

  /** The states of all peers that answer now. */
  public Map<Endpoint, PeerStanding> standings() throws InterruptedException {
    Map<Endpoint, CallClient> all;
    lock.lock();
    try {
      all = Map.copyOf(clients);
    } finally {
      lock.unlock();
    }
    Map<Endpoint, PeerStanding> standings = new ConcurrentHashMap<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      all.forEach(
          (place, client) ->
              threads.execute(
                  () -> standing(client).ifPresent(told -> standings.put(place, told))));
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return standings;
  }

  /** The state of the peer at this address; empty if none answers in time. */
  public Optional<PeerStanding> standing(Endpoint peer, Duration wait) throws InterruptedException {
    CallClient client = client(peer);
    return client.awaitConnected(wait) ? standing(client) : Optional.empty();
  }

  private static Optional<PeerStanding> standing(CallClient client) {
    try {
      CallAnswer answer = client.call(Method.STANDING, new byte[0], ASK_TIMEOUT);
      return answer.outcome() == Outcome.DONE
          ? Optional.of(PeerStanding.parseFrom(answer.body()))
          : Optional.empty();
    } catch (CallException | InvalidProtocolBufferException e) {
      return Optional.empty(); // the caller asks again soon
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
    } finally {
      lock.unlock();
    }
    retain(List.of());
  }
}
