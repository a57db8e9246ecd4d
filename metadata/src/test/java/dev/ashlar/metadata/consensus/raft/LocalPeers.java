package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.network.LocalNetwork;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;

/** Three peers of one process, and what passes between them. */
final class LocalPeers implements AutoCloseable {
  private static final int COUNT = 3;

  private final TestResources resources = new TestResources();
  private final List<Peer> peers = new ArrayList<>();

  /** Carries their calls. */
  final Peer.Network network;

  /**
   * Starts them; the first one asks for votes first.
   *
   * @param firstPlace of its folder; the others have the next ones
   * @param requests sees each request before it is delivered
   */
  LocalPeers(Path root, int firstPlace, Consumer<Object> requests) throws IOException {
    this(root, firstPlace, 0, requests);
  }

  /**
   * Likewise.
   *
   * @param firstPriority of the first one; if above 0, another that is elected on a busy machine
   *     hands its leadership to it
   */
  LocalPeers(Path root, int firstPlace, int firstPriority, Consumer<Object> requests)
      throws IOException {
    network = followed(new LocalNetwork(), requests);
    try {
      List<RaftPeer> members =
          IntStream.range(firstPlace, firstPlace + COUNT)
              .mapToObj(place -> member(place, place == firstPlace ? firstPriority : 0))
              .toList();
      RaftGroup group = RaftGroup.valueOf(RaftGroupId.valueOf(UUID.randomUUID()), members);
      SharedApplyResults shared = new SharedApplyResults(COUNT);
      for (RaftPeer member : members) {
        peers.add(
            new Peer(
                group,
                member.getId(),
                RaftSettings.Timing.embedded(peers.isEmpty(), false),
                root.resolve(member.getId().toString()),
                network,
                shared,
                resources.get(),
                CheckpointLimits.DEFAULT,
                new SimpleMeterRegistry(),
                MetadataVersion.KNOWN));
      }
      for (Peer peer : peers.reversed()) {
        peer.start();
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private static RaftPeer member(int place, int priority) {
    return RaftPeer.newBuilder()
        .setId(PeerIds.ofFounder(place))
        .setAddress("in-process:" + place)
        .setPriority(priority)
        .build();
  }

  private static Peer.Network followed(LocalNetwork network, Consumer<Object> requests) {
    return (Peer.Network)
        Proxy.newProxyInstance(
            Peer.Network.class.getClassLoader(),
            new Class<?>[] {Peer.Network.class},
            (proxy, method, arguments) -> {
              if (arguments != null) {
                requests.accept(arguments[0]);
              }
              try {
                return method.invoke(network, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  List<Peer> all() {
    return peers;
  }

  void awaitLeader() throws InterruptedException {
    while (peers.stream().noneMatch(Peer::isLeaderReady)) {
      Thread.sleep(10);
    }
  }

  @Override
  public void close() {
    Peers.closeAll(peers);
    resources.close();
  }
}
