package dev.ashlar.metadata.consensus;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.Exchange.Method;
import dev.ashlar.protocol.wire.Exchange.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.call.CallException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.apache.ratis.protocol.RaftPeerId;

/** The peers of a group that are in other processes. */
final class OtherPeers implements AutoCloseable {
  private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);

  private final Map<RaftPeerId, CallClient> clients = new LinkedHashMap<>();

  OtherPeers(List<Endpoint> peers, int place, CallClientConfig config, EventLoops loops) {
    SecureRandom random = new SecureRandom();
    for (int other = 0; other < peers.size(); other++) {
      if (other != place) {
        clients.put(Peer.idAt(other), new CallClient(peers.get(other), config, loops, random));
      }
    }
  }

  Map<RaftPeerId, CallClient> clients() {
    return clients;
  }

  /** What those say of themselves that can be asked now. */
  List<PeerStanding> standings() throws InterruptedException {
    List<CompletableFuture<Optional<PeerStanding>>> asked = new ArrayList<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (CallClient client : clients.values()) {
        asked.add(CompletableFuture.supplyAsync(() -> standing(client), threads));
      }
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return asked.stream().map(CompletableFuture::join).flatMap(Optional::stream).toList();
  }

  private static Optional<PeerStanding> standing(CallClient client) {
    try {
      CallAnswer answer = client.call(Method.STANDING, new byte[0], ASK_TIMEOUT);
      return answer.outcome() == Outcome.DONE
          ? Optional.of(PeerStanding.parseFrom(answer.body()))
          : Optional.empty();
    } catch (CallException | InvalidProtocolBufferException e) {
      return Optional.empty(); // asked again soon
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    clients.values().forEach(CallClient::close);
  }
}
