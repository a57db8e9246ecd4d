package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Peers of other clusters and versions, without the secret, or that follow no protocol at all. */
class HostilePeersTest {
  private static final ClusterSecret OTHER = new ClusterSecret(new byte[32]);
  private static final UUID DRIVE = new UUID(1, 2);
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);

  private final SlabPool serverSlabs = new SlabPool();
  private final MemoryShardStore drive = new MemoryShardStore(new DriveId(DRIVE, 1), serverSlabs);
  private Loopback loopback = open();

  private Loopback open() {
    try {
      return new Loopback(serverSlabs, drive);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Whatever was tried, honest clients are served, and nothing is left over. */
  @AfterEach
  void stillServes() throws Exception {
    loopback.connect();
    loopback.close();
  }

  private static PeerIdentity side(int version, Role role, UUID cluster) {
    return new PeerIdentity(version, role, cluster, UUID.randomUUID());
  }

  private static PeerIdentity gateway() {
    return side(Wire.VERSION, Role.GATEWAY, Loopback.CLUSTER);
  }

  private HandshakeMessage.Refusal refused(
      PeerIdentity side, ClusterSecret secret, UUID expectedDrive) throws IOException {
    return refused(loopback.port(), side, secret, expectedDrive);
  }

  private static HandshakeMessage.Refusal refused(
      int port, PeerIdentity side, ClusterSecret secret, UUID expectedDrive) throws IOException {
    try (RawPeer peer = new RawPeer(port)) {
      Message last = peer.greet(side, secret, List.of(expectedDrive));
      HandshakeMessage.Refusal refusal = assertInstanceOf(HandshakeMessage.Refusal.class, last);
      assertNull(peer.receive(), "closed behind the refusal");
      return refusal;
    }
  }

  @Test
  void refusalsNameBothSides() throws Exception {
    UUID cluster = new UUID(99, 99);
    HandshakeMessage.Refusal wrong =
        refused(side(Wire.VERSION, Role.GATEWAY, cluster), Loopback.SECRET, DRIVE);
    assertEquals(HandshakeFault.WRONG_CLUSTER, wrong.fault());
    assertTrue(wrong.why().contains(cluster.toString()), wrong::why);
    assertTrue(wrong.why().contains(Loopback.CLUSTER.toString()), wrong::why);
    PeerIdentity older = side(Wire.VERSION - 1, Role.GATEWAY, Loopback.CLUSTER);
    assertEquals(HandshakeFault.OLDER_VERSION, refused(older, Loopback.SECRET, DRIVE).fault());
    PeerIdentity newer = side(Wire.VERSION + 1, Role.GATEWAY, Loopback.CLUSTER);
    assertEquals(HandshakeFault.NEWER_VERSION, refused(newer, Loopback.SECRET, DRIVE).fault());
    PeerIdentity storage = side(Wire.VERSION, Role.STORAGE_NODE, Loopback.CLUSTER);
    assertEquals(HandshakeFault.WRONG_ROLE, refused(storage, Loopback.SECRET, DRIVE).fault());
    assertEquals(HandshakeFault.NOT_AUTHENTIC, refused(gateway(), OTHER, DRIVE).fault());
    assertEquals(
        HandshakeFault.WRONG_DRIVE, refused(gateway(), Loopback.SECRET, new UUID(5, 5)).fault());
  }

  /** Where other things could be served too, it does not even say what it is about. */
  @Test
  void otherVersionsAreRefusedByNameOnASharedPort() throws Exception {
    ShardServerConfig config = Loopback.config(ShardServerConfig.Limits.DEFAULT);
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (FramePort port = new FramePort(any, null, Loopback.TIMES, loopback.loops);
        ShardServer server = new ShardServer(config, port, List.of(drive), serverSlabs)) {
      assertEquals(0, server.openConnections());
      for (int version : new int[] {Wire.VERSION - 1, Wire.VERSION + 1}) {
        PeerIdentity other = side(version, Role.GATEWAY, Loopback.CLUSTER);
        HandshakeMessage.Refusal refusal =
            refused(port.address().getPort(), other, Loopback.SECRET, DRIVE);
        assertEquals(
            version < Wire.VERSION ? HandshakeFault.OLDER_VERSION : HandshakeFault.NEWER_VERSION,
            refusal.fault());
      }
    }
  }

  @Test
  void clientsReportWhyTheyWereRefused() throws Exception {
    NodeConfig good = loopback.clientConfig();
    expect(
        HandshakeFault.WRONG_CLUSTER,
        config(good, new UUID(99, 99), Loopback.SECRET, good.drives()));
    expect(HandshakeFault.NOT_AUTHENTIC, config(good, Loopback.CLUSTER, OTHER, good.drives()));
    expect(
        HandshakeFault.WRONG_DRIVE,
        config(good, Loopback.CLUSTER, Loopback.SECRET, List.of(new DriveId(new UUID(5, 5), 1))));
  }

  private static NodeConfig config(
      NodeConfig like, UUID cluster, ClusterSecret secret, List<DriveId> drives) {
    return new NodeConfig(
        like.host(),
        like.port(),
        like.role(),
        cluster,
        secret,
        drives,
        null,
        like.times(),
        like.limits());
  }

  private void expect(HandshakeFault fault, NodeConfig config) throws InterruptedException {
    RemoteNode node = loopback.start(config, new SlabPool());
    Loopback.await("it says why", () -> node.status().failure() instanceof HandshakeException);
    HandshakeException failure =
        assertInstanceOf(HandshakeException.class, node.status().failure());
    assertEquals(fault, failure.fault());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("here: GATEWAY"), message);
    assertTrue(message.contains("there: STORAGE_NODE"), message);
    node.close();
  }

  /** A client is not taken in by a server that does not know the secret, or speaks otherwise. */
  @Test
  void impostorServersAreRefused() throws Exception {
    assertEquals(
        HandshakeFault.NOT_AUTHENTIC, fooled(Wire.VERSION, Role.STORAGE_NODE, Loopback.CLUSTER));
    assertEquals(
        HandshakeFault.NEWER_VERSION,
        fooled(Wire.VERSION + 1, Role.STORAGE_NODE, Loopback.CLUSTER));
    assertEquals(
        HandshakeFault.WRONG_CLUSTER, fooled(Wire.VERSION, Role.STORAGE_NODE, new UUID(9, 9)));
    assertEquals(HandshakeFault.WRONG_ROLE, fooled(Wire.VERSION, Role.GATEWAY, Loopback.CLUSTER));
  }

  private HandshakeFault fooled(int version, Role role, UUID cluster) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      NodeConfig config =
          loopback.clientConfig(
              listener.getLocalPort(), Loopback.CLIENT_TIMES, NodeConfig.Limits.DEFAULT, null);
      RemoteNode node = loopback.start(config, new SlabPool());
      try (RawPeer peer = new RawPeer(listener.accept())) {
        RawPeer.Frame frame = peer.receive();
        assertNotNull(frame);
        HandshakeMessage.Hello hello =
            assertInstanceOf(HandshakeMessage.Hello.class, frame.message());
        HandshakeMessage.Challenge challenge =
            new HandshakeMessage.Challenge(side(version, role, cluster), hello.nonce());
        peer.send(challenge);
        Message said = peer.answer();
        if (said instanceof HandshakeMessage.Proof proof) {
          // Its own proof, sent back, and one with a secret that was made up.
          HandshakeMessage.Terms terms =
              new Handshake(OTHER, hello, challenge)
                  .welcome(
                      new HandshakeMessage.Terms(
                          1, Wire.DATA_BYTES_MAX, Wire.DATA_BYTES_MAX, List.of()))
                  .terms();
          peer.send(new HandshakeMessage.Welcome(proof.proof(), terms));
          assertNull(peer.receive());
        }
      }
      Loopback.await("it says why", () -> node.status().failure() instanceof HandshakeException);
      HandshakeFault fault =
          assertInstanceOf(HandshakeException.class, node.status().failure()).fault();
      node.close();
      return fault;
    }
  }

  /** All that an honest client has sent, sent again. */
  @Test
  void aReplayedConnectionIsRefused() throws Exception {
    List<byte[]> recorded = new ArrayList<>();
    try (ServerSocket recorder = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      NodeConfig config =
          loopback.clientConfig(
              recorder.getLocalPort(), Loopback.CLIENT_TIMES, NodeConfig.Limits.DEFAULT, null);
      RemoteNode node = loopback.start(config, new SlabPool());
      try (Socket client = recorder.accept();
          Socket server = new Socket(InetAddress.getLoopbackAddress(), loopback.port())) {
        // How it ends is of no interest.
        Thread back =
            Thread.ofVirtual()
                .start(
                    new FutureTask<>(
                        () -> server.getInputStream().transferTo(client.getOutputStream())));
        byte[] buffer = new byte[4096];
        while (!node.awaitConnected(Duration.ofMillis(1))) {
          int count = client.getInputStream().read(buffer);
          recorded.add(Arrays.copyOf(buffer, count));
          server.getOutputStream().write(buffer, 0, count);
        }
        node.close();
        server.shutdownOutput();
        back.join();
      }
    }
    try (RawPeer thief = new RawPeer(loopback.port())) {
      for (byte[] bytes : recorded) {
        thief.sendRaw(bytes);
      }
      assertInstanceOf(HandshakeMessage.Challenge.class, thief.answer());
      HandshakeMessage.Refusal refusal =
          assertInstanceOf(HandshakeMessage.Refusal.class, thief.answer());
      assertEquals(HandshakeFault.NOT_AUTHENTIC, refusal.fault());
    }
  }

  @Test
  void nothingIsServedBeforeTheHandshake() throws Exception {
    drive.write(AbstractShardStoreContract.shardWrite(SHARD, 0, new byte[10]), new Answer<>());
    try (RawPeer peer = new RawPeer(loopback.port())) {
      peer.request(1, 0, new Request.Read(SHARD, ShardView.ORIGINAL, 0, 10), new byte[0], true);
      assertNull(peer.answer());
    }
    try (RawPeer peer = new RawPeer(loopback.port())) {
      peer.send(new HandshakeMessage.Proof(new byte[32]));
      assertNull(peer.answer());
    }
    try (RawPeer peer = new RawPeer(loopback.port())) {
      peer.request(1, 0, new Signal.Data(), new byte[100], true);
      assertNull(peer.answer());
    }
  }

  @Test
  void garbageIsRefusedAndTheLogStaysShort() throws Exception {
    Random random = new Random(5);
    int cutOff = 0;
    for (int i = 0; i < 200; i++) {
      byte[] garbage = new byte[1 + random.nextInt(500)];
      random.nextBytes(garbage);
      cutOff += isCutOff(garbage) ? 1 : 0;
    }
    Loopback.await("all are closed", () -> loopback.port.silentConnections() == 0);
    assertEquals(0, loopback.server.openConnections());
    assertTrue(loopback.port.warnings() <= 5, "a few lines for all of it");
    assertEquals(0, serverSlabs.allocatedBytes(), "no memory for any of it");
    assertTrue(cutOff > 0, "those with a whole header");
  }

  /** Whether the server ended it, be it that what it had not read was lost. */
  private boolean isCutOff(byte[] garbage) throws IOException {
    try (RawPeer peer = new RawPeer(loopback.port())) {
      if (garbage.length >= FrameHeader.BYTES) {
        peer.sendRaw(garbage);
        return peer.receive() == null;
      }
      peer.sendRaw(garbage);
      return false;
    }
  }

  /** Those who know the secret are cut off too when they break the rules. */
  @Test
  void authenticatedClientsThatBreakTheProtocolAreCutOff() throws Exception {
    Request.Write write = new Request.Write(SHARD, 0, 100, new int[1]);
    breaks(peer -> peer.request(1, 7, write, new byte[100], true));
    breaks(peer -> peer.request(1, 0, write, new byte[99], true));
    breaks(peer -> peer.request(1, 0, write, new byte[101], true));
    breaks(peer -> peer.request(1, 0, write, new byte[100], false));
    breaks(peer -> peer.request(1, 0, new Signal.Data(), new byte[100], true));
    breaks(peer -> peer.request(1, 0, new Signal.Data(), new byte[0], true));
    breaks(peer -> peer.request(1, 0, new Reply.Done(3), new byte[0], true));
    breaks(peer -> peer.request(1, 0, new Signal.State(ShardFault.FULL), new byte[0], true));
    breaks(peer -> peer.request(1, 0, new HandshakeMessage.Proof(new byte[32]), new byte[0], true));
    breaks(
        peer -> {
          peer.request(1, 0, write, new byte[50], false);
          peer.request(1, 0, write, new byte[100], true);
        });
    breaks(
        peer -> {
          peer.request(1, 0, write, new byte[50], false);
          peer.request(1, 0, new Signal.Data(), new byte[51], true);
        });
    breaks(peer -> peer.sendRaw(peer.frame(0, 1, write, new byte[100], true, 0)));
    breaks(
        peer -> {
          byte[] frame = peer.frame(0, 1, write, new byte[100], true, 1000);
          frame[frame.length - 1] ^= 1;
          peer.sendRaw(frame);
        });
    breaks(
        peer -> {
          byte[] frame = peer.frame(0, 1, new Signal.Ping(), new byte[0], true, 0);
          peer.sendRaw(frame);
          peer.sendRaw(frame);
        });
    ShardIntent.Target noParity =
        new ShardIntent.Target(SHARD, new AttemptId(1, 1), ShardView.ORIGINAL, 0);
    Request.Range range = new Request.Range(0, 0, 100, new int[1]);
    breaks(
        peer ->
            peer.request(
                1,
                0,
                new Request.PrepareDeltas(noParity, new Profile(2, 1, 4096), List.of(range)),
                new byte[100],
                true));
    assertEquals(0, drive.writes());
  }

  private interface Rudeness {
    void commit(RawPeer peer) throws IOException;
  }

  private void breaks(Rudeness rudeness) throws Exception {
    try (RawPeer peer = new RawPeer(loopback.port())) {
      assertInstanceOf(
          HandshakeMessage.Welcome.class, peer.greet(gateway(), Loopback.SECRET, List.of(DRIVE)));
      rudeness.commit(peer);
      assertNull(peer.answer(), "it is cut off");
    }
  }

  @Test
  void requestsBeyondTheTermsAreRefused() throws Exception {
    drive.holdAnswers();
    try (RawPeer peer = new RawPeer(loopback.port())) {
      peer.greet(gateway(), Loopback.SECRET, List.of(DRIVE));
      int bytes = 0;
      int most = 2 * ShardServerConfig.Limits.DEFAULT.writeBytesMax();
      try {
        for (int id = 1; bytes <= 2 * most; id++) {
          Request.Write write =
              new Request.Write(new ShardId(new BlobId(1, id), 0), 0, 131_072, new int[32]);
          peer.request(id, 0, write, new byte[131_072], true);
          bytes += 131_072;
        }
      } catch (IOException e) {
        // Cut off while it was still sending.
        assertTrue(bytes > 0);
      }
      Loopback.await("cut off", () -> loopback.server.openConnections() == 0);
    }
    drive.releaseAnswers();
  }

  /** A peer that takes nothing off its socket is found, however much is waiting for it. */
  @Test
  void aPeerThatDoesNotReadIsCutOff() throws Exception {
    loopback.close();
    FrameTimes quick =
        new FrameTimes(Duration.ofSeconds(5), Duration.ofMillis(20), Duration.ofMillis(300));
    loopback =
        new Loopback(
            Transport.preferred(),
            new Loopback.Setup(ShardServerConfig.Limits.DEFAULT, quick, null),
            serverSlabs,
            drive);
    Answer<DriveId> stored = new Answer<>();
    drive.write(AbstractShardStoreContract.shardWrite(SHARD, 0, new byte[4 << 20]), stored);
    stored.await();
    try (RawPeer peer = new RawPeer(loopback.port())) {
      peer.greet(gateway(), Loopback.SECRET, List.of(DRIVE));
      for (int id = 1; id <= 4; id++) {
        Request read = new Request.Read(SHARD, ShardView.ORIGINAL, 0, Request.READ_BYTES_MAX);
        peer.request(id, 0, read, new byte[0], true);
      }
      Loopback.await("cut off", () -> loopback.server.openConnections() == 0);
    }
  }

  @Test
  void connectionsThatNeverAuthenticateAreBounded() throws Exception {
    int most = ShardServerConfig.Limits.DEFAULT.handshakesMax();
    List<RawPeer> peers = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      RawPeer peer = new RawPeer(loopback.port());
      byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
      peer.send(new HandshakeMessage.Hello(gateway(), nonce, List.of(DRIVE)));
      peers.add(peer);
    }
    Loopback.await("all are there", () -> loopback.server.openConnections() == most);
    assertEquals(HandshakeFault.BUSY, refused(gateway(), Loopback.SECRET, DRIVE).fault());
    for (RawPeer peer : peers) {
      peer.close();
    }
    Loopback.await("all are gone", () -> loopback.server.openConnections() == 0);
  }

  @Test
  void aSilentConnectionIsCutOff() throws Exception {
    loopback.close();
    FrameTimes quick =
        new FrameTimes(Duration.ofMillis(50), Duration.ofMillis(20), Duration.ofSeconds(5));
    loopback =
        new Loopback(
            Transport.preferred(),
            new Loopback.Setup(ShardServerConfig.Limits.DEFAULT, quick, null),
            serverSlabs,
            drive);
    try (RawPeer peer = new RawPeer(loopback.port())) {
      assertNull(peer.receive());
    }
  }
}
