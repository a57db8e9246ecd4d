package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.health.HealthService.StoreState;
import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.server.cli.RehearsalClient;
import dev.ashlar.server.cluster.ClusterDrives;
import dev.ashlar.server.cluster.Membership;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.jobs.PeriodicJobs;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Storage nodes and a gateway that meet only over connections and in metadata. */
@Tag("slow")
public class ClusterRolesTest {
  private static final Profile PROFILE = Profile.parse("2+1", 4096);
  private static final int NODES = 4;
  private static final Duration WAIT = Duration.ofSeconds(30);

  @TempDir private Path root;
  private final Clock clock = Clock.systemUTC();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final CloseStack opened = new CloseStack();
  private final ErasureCodes codes = opened.add(new ErasureCodes(CodecChoice.JAVA));
  private final SlabPool slabs = new SlabPool(64 << 20);
  private final EventLoops loops = opened.add(new EventLoops(Transport.NIO, 2, "test"));
  private final DriveResources resources =
      opened.add(
          new DriveResources(slabs, meters, clock, codes::of, DriveResources.Budget.DEFAULT));
  private MetadataClient metadata;
  private final List<StorageNode> nodes = new ArrayList<>();

  /** Drives that came when their nodes served already. */
  private final List<DriveStore> late = new CopyOnWriteArrayList<>();

  private record StorageNode(
      ClusterOptions options,
      FramePort port,
      StorageRole role,
      Membership membership,
      BackgroundThread vacant) {
    void close() throws IOException {
      vacant.close();
      port.close();
      membership.close();
      role.close();
    }
  }

  @BeforeEach
  void openMetadata() throws Exception {
    ExecutorService reads = opened.add(Executors.newFixedThreadPool(2));
    RocksResources rocks =
        new RocksResources(
            resources.env(), resources.blockCache(), resources.writeBufferManager(), reads);
    MetadataServer server =
        opened.add(
            MetadataServer.open(
                new MetadataConfig(
                    List.of(root.resolve("metadata")), UUID.randomUUID(), rocks, meters)));
    metadata = server.client();
  }

  @AfterEach
  void close() throws IOException {
    for (StorageNode node : nodes) {
      node.close();
    }
    opened.close();
  }

  private static ServerOptions options(ServerRole role, String node, int port, String... more) {
    List<String> arguments = new ArrayList<>(List.of(more));
    Collections.addAll(
        arguments,
        "--cluster=test",
        "--roles=" + role,
        "--node=" + node,
        "--host=127.0.0.1",
        "--metadata-nodes=127.0.0.1:1",
        "--cluster-listen=127.0.0.1:" + port,
        "--expect-drives=" + NODES,
        "--profile=" + PROFILE,
        "--stripe-unit=" + PROFILE.stripeUnit(),
        "--listen=127.0.0.1:0",
        "--management-listen=127.0.0.1:0",
        "--codec=java",
        "--transport=nio",
        "--hedge-budget=0",
        "--repair-rate=0",
        "--rebalance-rate=0",
        "--scrub-period=0",
        "--scrub-rate=0",
        "--light-scrub-period=0");
    return ServerOptions.parse(
        Map.of("ASHLAR_CLUSTER_SECRET", "sixteen bytes or more"), arguments.toArray(String[]::new));
  }

  /** As a gateway tells it. */
  private record Health(boolean servesReads, boolean servesAllWrites) implements StoreState {}

  private StorageNode start(int number, int port) throws Exception {
    ServerOptions options =
        options(ServerRole.STORAGE, "node-" + number, port, "--data=" + root.resolve("d" + number));
    ClusterOptions cluster = Objects.requireNonNull(options.cluster());
    StorageRole role =
        new StorageRole(
            LocalDrives.Config.ofNode(options, cluster), AwaitedDrives.known(metadata), resources);
    Membership membership =
        new Membership(metadata, cluster, role.drives().rows(), PROFILE, () -> {});
    membership.join();
    role.fillVacant(metadata, membership, 1);
    FramePort served =
        new FramePort(cluster.clusterListen().socketAddress(), null, FrameTimes.DEFAULT, loops);
    role.serve(served, cluster.id(), cluster.secret(), options.sizes(), drive -> drive);
    BackgroundThread vacant = role.awaitVacant(late::add, Duration.ofMillis(100));
    return new StorageNode(cluster, served, role, membership, vacant);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void startAll() throws Exception {
    for (int number = 1; number <= NODES; number++) {
      nodes.add(start(number, freePort()));
    }
    await(() -> metadata.registry().getEpoch() > 0);
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    while (!condition.holds()) {
      assertTrue(System.nanoTime() < deadline, "still waiting");
      Thread.sleep(20);
    }
  }

  /** A node with the gateway's role only. */
  private record Gateway(RehearsalClient s3, ClusterDrives drives, GatewayRole role) {}

  private Gateway openGateway() throws Exception {
    ServerOptions options = options(ServerRole.GATEWAY, "gateway", 1);
    ClusterOptions cluster = Objects.requireNonNull(options.cluster());
    ClusterDrives drives =
        opened.add(
            new ClusterDrives(
                metadata,
                cluster,
                id -> null,
                new ClusterDrives.Dependencies(loops, null, slabs, clock)));
    drives.start();
    drives.awaitConnections(WAIT);
    GatewayRole gateway =
        opened.add(
            new GatewayRole(
                options,
                new GatewayRole.Backend(cluster.id(), metadata, drives::store),
                new GatewayRole.Dependencies(
                    codes,
                    slabs,
                    meters,
                    clock,
                    clock,
                    new Encryptions(
                        new KeyWrapping(
                            MasterKeys.NONE,
                            KmsKeys.NONE,
                            new SecureRandom(),
                            new SimpleMeterRegistry()),
                        false,
                        false),
                    null,
                    null),
                LongUnaryOperator.identity()));
    RootCredential credential =
        RootCredential.given(
            Map.of("ASHLAR_ACCESS_KEY", "access", "ASHLAR_SECRET_KEY", "secret-secret"), null);
    InetSocketAddress address =
        gateway.serve(credential, new Health(true, true), () -> new byte[0], null);
    RehearsalClient s3 = new RehearsalClient(address, credential, "us-east-1");
    return new Gateway(s3, drives, gateway);
  }

  @Test
  void aGatewayWritesAndReadsDrivesOfOtherProcesses() throws Exception {
    startAll();
    RehearsalClient s3 = openGateway().s3();
    s3.send("PUT", "/bucket", "", new byte[0]);
    Random random = new Random(7);
    byte[] small = new byte[5_000];
    byte[] large = new byte[3_000_000];
    random.nextBytes(small);
    random.nextBytes(large);
    s3.send("PUT", "/bucket/small", "", small);
    s3.send("PUT", "/bucket/large", "", large);
    assertArrayEquals(small, s3.send("GET", "/bucket/small", "", new byte[0]));
    assertArrayEquals(large, s3.send("GET", "/bucket/large", "", new byte[0]));

    StorageNode lost = nodes.removeFirst();
    lost.close();
    assertArrayEquals(small, s3.send("GET", "/bucket/small", "", new byte[0]));
    assertArrayEquals(large, s3.send("GET", "/bucket/large", "", new byte[0]));

    // Elsewhere: the gateway learns of the new address from metadata.
    nodes.add(start(1, freePort()));
    String moved = nodes.getLast().options().clusterListen().toString();
    Registry registry = metadata.registry();
    assertEquals(
        moved,
        registry.getNodesList().stream()
            .filter(node -> node.getName().equals("node-1"))
            .map(node -> node.getHost() + ":" + node.getPort())
            .findFirst()
            .orElseThrow());
    assertNotEquals(moved, lost.options().clusterListen().toString());
    s3.send("PUT", "/bucket/again", "", large);
    assertArrayEquals(large, s3.send("GET", "/bucket/again", "", new byte[0]));
  }

  /** As after a power cut, when drives are mounted late on more nodes than may be lost. */
  @Test
  void onlyAsManyDrivesAreReplacedAsMayBeLost() throws Exception {
    startAll();
    RehearsalClient s3 = openGateway().s3();
    s3.send("PUT", "/bucket", "", new byte[0]);
    byte[] bytes = new byte[50_000];
    new Random(7).nextBytes(bytes);
    for (int i = 0; i < 20; i++) {
      s3.send("PUT", "/bucket/key-" + i, "", bytes);
    }
    unmount(1);
    assertTrue(hasDrives(nodes.getFirst()), "a replacement");
    unmount(2);
    assertFalse(hasDrives(nodes.get(1)), "it could not be rebuilt");

    int port = nodes.get(1).options().clusterListen().port();
    nodes.remove(1).close();
    assertEquals(List.of(), late, "however often it asks");
    Files.move(root.resolve("away2"), root.resolve("d2"));
    nodes.add(1, start(2, port));
    assertTrue(hasDrives(nodes.get(1)), "it is mounted");
    for (int i = 0; i < 20; i++) {
      String key = "/bucket/key-" + i;
      await(() -> Arrays.equals(bytes, read(s3, key)));
    }
  }

  @Test
  void whatMayNotBeReplacedIsWhenItMay() throws Exception {
    startAll();
    Gateway gateway = openGateway();
    RehearsalClient s3 = gateway.s3();
    ClusterDrives drives = gateway.drives();
    s3.send("PUT", "/bucket", "", new byte[0]);
    for (int i = 0; i < 20; i++) { // placement groups without blobs would not count
      s3.send("PUT", "/bucket/gone-" + i, "", new byte[50_000]);
      s3.send("DELETE", "/bucket/gone-" + i, "", new byte[0]);
    }
    unmount(1);
    assertTrue(hasDrives(nodes.getFirst()), "a replacement");
    unmount(2);
    assertFalse(hasDrives(nodes.get(1)), "nobody has looked yet what the first one had");
    ShardStore store = Objects.requireNonNull(drives.store(drive(2).id()));
    await(() -> drives.reached(drive(2).id()) != null);
    assertEquals(ShardFault.UNAVAILABLE, store.writeRefusal());

    gateway.role().startRepair(opened.add(new PeriodicJobs(() -> true, meters)));
    await(() -> !late.isEmpty());
    DriveId replacement = late.getFirst().drive();
    assertEquals(replacement, drive(2), "metadata knows its life before it is served");
    await(store::isWritable);
    byte[] bytes = new byte[50_000];
    new Random(7).nextBytes(bytes);
    for (int i = 0; i < 20; i++) {
      String key = "/bucket/key-" + i;
      await(() -> isPut(s3, key, bytes));
    }
    await(() -> Protection.of(metadata).holdsAllShards());
    assertEquals(replacement, store.drive(), "over the connection that there was");
    nodes.removeLast().close();
    for (int i = 0; i < 20; i++) {
      String key = "/bucket/key-" + i;
      await(() -> Arrays.equals(bytes, read(s3, key)));
    }
  }

  private static boolean hasDrives(StorageNode node) {
    return !node.role().drives().stores().isEmpty();
  }

  private static boolean isPut(RehearsalClient s3, String path, byte[] bytes) throws Exception {
    try {
      s3.send("PUT", path, "", bytes);
      return true;
    } catch (IOException e) {
      return false; // the gateway has not found all drives again
    }
  }

  @Test
  void whatIsMountedLateIsServedWithoutAnotherStart() throws Exception {
    startAll();
    Gateway gateway = openGateway();
    RehearsalClient s3 = gateway.s3();
    s3.send("PUT", "/bucket", "", new byte[0]);
    byte[] bytes = new byte[50_000];
    new Random(7).nextBytes(bytes);
    s3.send("PUT", "/bucket/key", "", bytes);
    DriveId before = drive(2);
    unmount(1);
    unmount(2);
    ShardStore store = Objects.requireNonNull(gateway.drives().store(before.id()));
    await(() -> gateway.drives().reached(before.id()) != null);
    Files.move(root.resolve("away2"), root.resolve("d2"));
    await(() -> !late.isEmpty());
    assertEquals(before, late.getFirst().drive(), "it is the one that it was");
    await(() -> Arrays.equals(bytes, read(s3, "/bucket/key")));
    await(store::isWritable);
    assertEquals(before, store.drive(), "also for who was connected before it came");

    int port = nodes.get(1).options().clusterListen().port();
    nodes.remove(1).close();
    await(() -> !store.isWritable());
    nodes.add(1, start(2, port));
    await(store::isWritable);
    assertEquals(before, store.drive());
  }

  /** The only one of this node, as metadata knows it. */
  private DriveId drive(int number) throws Exception {
    return metadata.registry().getDrivesList().stream()
        .filter(row -> row.getNode().equals("node-" + number))
        .map(DriveId::of)
        .findFirst()
        .orElseThrow();
  }

  /** The node starts again while its drive is elsewhere. */
  private void unmount(int number) throws Exception {
    int port = nodes.get(number - 1).options().clusterListen().port();
    nodes.remove(number - 1).close();
    Files.move(root.resolve("d" + number), root.resolve("away" + number));
    nodes.add(number - 1, start(number, port));
  }

  /** Nothing while the gateway has not found the drives again. */
  private static byte[] read(RehearsalClient s3, String path) throws Exception {
    try {
      return s3.send("GET", path, "", new byte[0]);
    } catch (IOException e) {
      return new byte[0];
    }
  }

  @Test
  void theFirstMapIsMadeWhenAllExpectedDrivesAreThere() throws Exception {
    for (int number = 1; number < NODES; number++) {
      nodes.add(start(number, freePort()));
    }
    Thread.sleep(100);
    assertEquals(0, metadata.registry().getEpoch());
    nodes.add(start(NODES, freePort()));
    await(() -> metadata.registry().getEpoch() == 1);
    assertEquals(PROFILE, metadata.placement().standard().profile());
    assertAnotherProfileIsRefused();
  }

  private void assertAnotherProfileIsRefused() throws Exception {
    ServerOptions options =
        options(ServerRole.STORAGE, "node-9", freePort(), "--data=" + root.resolve("d9"));
    ClusterOptions cluster = Objects.requireNonNull(options.cluster());
    StorageRole role =
        opened.add(
            new StorageRole(LocalDrives.Config.ofNode(options, cluster), Map.of(), resources));
    Membership membership =
        new Membership(
            metadata, cluster, role.drives().rows(), Profile.parse("2+2", 4096), () -> {});
    IOException refusal = assertThrows(IOException.class, membership::join);
    assertTrue(refusal.toString().contains("--profile 2+1"), refusal.toString());
  }
}
