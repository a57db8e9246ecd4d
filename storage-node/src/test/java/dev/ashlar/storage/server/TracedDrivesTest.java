package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The trace of a request on its way to a drive of another process. */
class TracedDrivesTest {
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);
  private static final TraceContext TRACE = new TraceContext(1, 2, 3, TraceContext.SAMPLED);
  private static final TraceContext UNSAMPLED = new TraceContext(1, 2, 3, (byte) 0);

  private final SlabPool serverSlabs = new SlabPool();
  private final DriveId id = new DriveId(new UUID(1, 2), 1);

  /** What the drive was asked for, in this order. */
  private final List<@Nullable TraceContext> seen = Collections.synchronizedList(new ArrayList<>());

  private final ShardStore drive =
      new ForwardingShardStore(new MemoryShardStore(id, serverSlabs)) {
        @Override
        public void write(ShardWrite write, Completion<DriveId> completion) {
          seen.add(CurrentSpan.parent());
          super.write(write, completion);
        }

        @Override
        public void read(
            ShardId shard,
            ShardView view,
            long offset,
            int length,
            Completion<ShardData> completion) {
          seen.add(CurrentSpan.parent());
          super.read(shard, view, offset, length, completion);
        }
      };

  private static void write(ShardStore store, int offset, int length) throws Exception {
    Answer<DriveId> answer = new Answer<>();
    store.write(AbstractShardStoreContract.shardWrite(SHARD, offset, new byte[length]), answer);
    answer.await();
  }

  private static Answer<ShardData> read(ShardStore store) {
    Answer<ShardData> answer = new Answer<>();
    store.read(SHARD, ShardView.ORIGINAL, 0, 1000, answer);
    return answer;
  }

  /** Also where the data goes in several frames. */
  @Test
  void theDriveIsAskedForTheTraceOfTheCaller() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive)) {
      ShardStore store = loopback.store(loopback.connect(), 0);
      CurrentSpan.set(() -> TRACE);
      try {
        write(store, 0, 1 << 20);
        read(store).await().release();
        CurrentSpan.set(() -> UNSAMPLED);
        read(store).await().release();
      } finally {
        CurrentSpan.set(null);
      }
      read(store).await().release();
      assertEquals(Arrays.asList(TRACE, TRACE, null, null), seen);
    }
  }

  /** It would end the connection of whoever sends more than it knows. */
  @Test
  void anOlderServerIsNotToldOfTraces() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      NodeConfig config =
          loopback.clientConfig(
              listener.getLocalPort(), Loopback.CLIENT_TIMES, NodeConfig.Limits.DEFAULT, null);
      RemoteNode node = loopback.start(config, new SlabPool());
      try (RawPeer server = new RawPeer(listener.accept())) {
        PeerIdentity side =
            new PeerIdentity(Wire.VERSION, Role.STORAGE_NODE, Loopback.CLUSTER, new UUID(5, 6));
        server.welcome(
            side,
            Loopback.SECRET,
            new HandshakeMessage.Terms(
                10,
                Wire.DATA_BYTES_MAX,
                Wire.DATA_BYTES_MAX,
                List.of(new HandshakeMessage.ServedDrive(id, null))));
        node.awaitConnected(Loopback.PATIENCE);
        Answer<ShardData> answer = tracedRead(loopback.store(node, 0));
        RawPeer.Frame request = nextRequest(server);
        assertFalse(request.header().isTraced());
        server.request(
            request.header().request(),
            0,
            new Reply.Failed(ShardFault.MISSING, "as said"),
            new byte[0],
            true);
        assertEquals(ShardFault.MISSING, answer.awaitFault());
      }
      node.close();
    }
    assertNull(CurrentSpan.get());
  }

  private static Answer<ShardData> tracedRead(ShardStore store) {
    CurrentSpan.set(() -> TRACE);
    try {
      return read(store);
    } finally {
      CurrentSpan.set(null);
    }
  }

  private static RawPeer.Frame nextRequest(RawPeer server) throws Exception {
    while (true) {
      RawPeer.Frame frame = Objects.requireNonNull(server.receive());
      switch (frame.message().type()) {
        case PING, PONG -> {}
        default -> {
          return frame;
        }
      }
    }
  }

  /** As an older build does, which knows of no flags but the last frame's. */
  @Test
  void anOlderClientIsServed() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        RawPeer client = new RawPeer(loopback.port())) {
      PeerIdentity side =
          new PeerIdentity(Wire.VERSION, Role.GATEWAY, Loopback.CLUSTER, UUID.randomUUID());
      assertInstanceOf(
          HandshakeMessage.Welcome.class, client.greet(side, Loopback.SECRET, List.of(id.id())));
      client.request(1, 0, new Request.Read(SHARD, ShardView.ORIGINAL, 0, 10), new byte[0], true);
      assertEquals(
          ShardFault.MISSING, assertInstanceOf(Reply.Failed.class, client.answer()).fault());
      assertEquals(Collections.singletonList(null), seen);
    }
  }
}
