package dev.ashlar.transport.metadata;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.ashlar.protocol.message.LeaderHint;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.call.CallServer;
import dev.ashlar.transport.call.CallServerConfig;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a client finds the leader among peers that know nothing of it, or something wrong. */
@Timeout(60)
class LeaderSearchTest {
  private static final ClusterSecret SECRET =
      new ClusterSecret("a secret of a test".getBytes(StandardCharsets.UTF_8));
  private static final byte[] DONE = {1, 2, 3};

  private final UUID cluster = UUID.randomUUID();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "leader-search");
  private final List<FramePort> ports = new ArrayList<>();
  private final List<CallServer> servers = new ArrayList<>();

  private final List<Supplier<CallAnswer>> answers = new CopyOnWriteArrayList<>();

  private void listen(int peers) throws Exception {
    for (int place = 0; place < peers; place++) {
      int self = place;
      FramePort port =
          new FramePort(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              null,
              FrameTimes.DEFAULT,
              loops);
      ports.add(port);
      answers.add(LeaderSearchTest::knowsNoLeader);
      servers.add(
          new CallServer(
              new CallServerConfig(cluster, SECRET, CallServerConfig.Limits.DEFAULT),
              port,
              call -> call.answer(answers.get(self).get())));
    }
  }

  @AfterEach
  void close() {
    ports.forEach(FramePort::close);
    servers.forEach(CallServer::close);
    loops.close();
  }

  private Endpoint endpoint(int place) {
    return new Endpoint("127.0.0.1", ports.get(place).address().getPort());
  }

  private CallAnswer follows(int leader) {
    LeaderHint hint = LeaderHint.newBuilder().setAddress(endpoint(leader).toString()).build();
    return new CallAnswer(Outcome.NOT_LEADER, hint.toByteArray());
  }

  private static CallAnswer knowsNoLeader() {
    return new CallAnswer(Outcome.NOT_LEADER, LeaderHint.getDefaultInstance().toByteArray());
  }

  private static CallAnswer leads() {
    return CallAnswer.done(DONE);
  }

  /** A client that is connected with all peers and for which the first leads. */
  private LeaderCalls client() throws Exception {
    List<Endpoint> peers = IntStream.range(0, ports.size()).mapToObj(this::endpoint).toList();
    LeaderCalls client =
        new LeaderCalls(
            new RemoteMetadataConfig(
                peers,
                new CallClientConfig(Role.GATEWAY, cluster, SECRET, null),
                Duration.ofSeconds(20)),
            loops);
    for (int leader = peers.size() - 1; leader >= 0; leader--) {
      answers.set(leader, LeaderSearchTest::leads);
      assertArrayEquals(DONE, client.call(Method.QUERY, new byte[0]));
      answers.set(leader, LeaderSearchTest::knowsNoLeader);
    }
    return client;
  }

  /** The first has led and was cut off; the last has heard of nobody else since. */
  @Test
  void aFormerLeaderNamedByAPeerDoesNotHideTheLeader() throws Exception {
    listen(4);
    try (LeaderCalls client = client()) {
      answers.set(1, () -> follows(0));
      answers.set(2, LeaderSearchTest::leads);
      assertArrayEquals(DONE, client.call(Method.QUERY, new byte[0]));
    }
  }

  @Test
  void peersThatNameEachOtherDoNotHideTheLeader() throws Exception {
    listen(4);
    try (LeaderCalls client = client()) {
      answers.set(0, () -> follows(1));
      answers.set(1, () -> follows(0));
      answers.set(3, LeaderSearchTest::leads);
      assertArrayEquals(DONE, client.call(Method.QUERY, new byte[0]));
    }
  }

  @Test
  void theNamedLeaderIsCalledNext() throws Exception {
    listen(3);
    try (LeaderCalls client = client()) {
      answers.set(0, () -> follows(2));
      answers.set(1, () -> CallAnswer.because(Outcome.FAILED, "was asked without need"));
      answers.set(2, LeaderSearchTest::leads);
      assertArrayEquals(DONE, client.call(Method.QUERY, new byte[0]));
    }
  }
}
