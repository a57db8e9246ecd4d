package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.garbage.DeadSessionSweep;
import dev.ashlar.metadata.garbage.LiveSessions;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One run, all of it drawn from a seed: clients of several gateways change and read the same few
 * objects on the real engine and the real state machine of metadata, over drives in memory that
 * each gateway reaches through a network. Nodes and gateways end and come back, connections are
 * lost, commands and their answers too, clocks differ, a drive comes back empty, slots move from
 * drive to drive.
 */
final class ClusterSimulation {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("2+1", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("1+2", 4096));

  /** What a drive answers to writes until it recovers. */
  private static final ShardFault[] LASTING = {
    ShardFault.FULL, ShardFault.READ_ONLY, ShardFault.IO_ERROR
  };

  private static final int GATEWAYS_MAX = 3;
  private static final int CLIENTS_MAX = 2;
  private static final int CLIENT_STEPS_MAX = 4;
  private static final int GATEWAY_STARTS_MAX = 6;
  private static final int STEPS_MAX = 100_000;

  /** After about so many steps those who wait for drives look whether these are late. */
  private static final int WAKE_STEPS = 12;

  /** By runs that ended in the midst of it, as those with a planted bug do. */
  private final long lentBefore = SimulatedProcess.POOL.lentBytes();

  private final Random random;
  private final PlantedBug bug;
  private final Profile profile;
  private final ManualClock logClock = new ManualClock(100_000);
  private final MemoryMetadata metadata = new MemoryMetadata(logClock);
  private final BytesModel model = new BytesModel();
  private final SteppedThreads threads;
  private final Map<UUID, SimulatedNode> nodes = new LinkedHashMap<>();
  private final List<Gateway> gateways = new ArrayList<>();

  private final WeakDrive weak;
  private int gatewayStarts;
  private int working;
  private int steps;

  /** One of the gateways, with its own clock, session and connections. */
  private final class Gateway implements SimulatedProcess.Surroundings {
    private final ManualClock clock = new ManualClock(95_000 + random.nextInt(10_000));
    private final Map<UUID, SimulatedLink> links = new LinkedHashMap<>();
    private final Map<UUID, ShardStore> stores = new LinkedHashMap<>();
    private final String name;
    private final SimulatedProcess process;
    private PlacementMap placement = metadata.placement();
    private Map<UUID, DriveId> drives = metadata.drives();
    private @Nullable UUID hidden;

    /**
     * @param name by which the session of the one that had it before ends
     */
    Gateway(String name) {
      this.name = name;
      MemoryMetadata own = metadata.anotherClient();
      own.require(
          Command.newBuilder()
              .setRegisterNode(
                  RegisterNode.newBuilder()
                      .setNode(NodeRow.newBuilder().setName(name).setGateway(true))));
      for (SimulatedNode node : nodes.values()) {
        SimulatedLink link = new SimulatedLink(node, SimulatedProcess.POOL, random);
        link.connect();
        links.put(node.id(), link);
        stores.put(node.id(), bug.in(link));
      }
      process =
          new SimulatedProcess(SimulatedProcess.config(profile, 3), newClient(own), clock, this);
    }

    /** What it knows of the placement map and the drives may be old. */
    private MetadataClient newClient(MemoryMetadata own) {
      MetadataClient client = bug.in(own);
      return Ports.of(
          MetadataClient.class,
          (method, arguments) ->
              switch (method.getName()) {
                case "placement" -> placement(arguments.length == 0 ? 0 : (long) arguments[0]);
                case "drives" -> drives;
                default -> method.invoke(client, arguments);
              });
    }

    private PlacementMap placement(long epoch) {
      if (placement.epoch() < epoch) {
        look();
      }
      return placement;
    }

    /** Removes from all drives what sessions left that have ended, as every storage node does. */
    void sweepEndedSessions() throws MetadataUnavailableException, InterruptedException {
      LiveSessions live = LiveSessions.of(process.client.registry());
      DeadSessionSweep sweep = new DeadSessionSweep(process.client, SimulatedProcess.NEVER);
      for (ShardStore store : stores.values()) {
        sweep.sweep(
            store, live.newest(), bug == PlantedBug.SWEEPS_ALL ? any -> true : live::isDead);
      }
    }

    void look() {
      placement = metadata.placement();
      drives = metadata.drives();
    }

    void end() {
      process.die();
      links.values().forEach(SimulatedLink::close);
    }

    @Override
    public @Nullable ShardStore drive(UUID id) {
      return id.equals(hidden) ? null : stores.get(id);
    }

    @Override
    public SimulatedProcess.Fate fate(Command.Builder command) {
      boolean isFine = working == 0 || random.nextInt(20) > 0;
      return isFine ? SimulatedProcess.Fate.ANSWERED : any(SimulatedProcess.Fate.values());
    }

    @Override
    public void committed(Command.Builder command) {}

    @Override
    public BytesModel model() {
      return model;
    }

    @Override
    public Duration grace() {
      return Duration.ZERO;
    }

    @Override
    public SteppedThreads threads() {
      return threads;
    }

    @Override
    public Random random() {
      return random;
    }
  }

  ClusterSimulation(long seed, PlantedBug bug) {
    this.random = new Random(seed);
    this.bug = bug;
    profile = PROFILES.get(random.nextInt(PROFILES.size()));
    threads = new SteppedThreads(random);
    // The last one is a spare, which may get the slots of another.
    int used = profile.shards() + random.nextInt(2);
    for (UUID id : MemoryMetadata.sequentialIds(used + 1)) {
      nodes.put(id, newNode(id));
    }
    SimulatedNode one = List.copyOf(nodes.values()).get(random.nextInt(used));
    weak = new WeakDrive(one, spare(), metadata);
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    profile, MemoryMetadata.sequentialIds(used), 1 + random.nextInt(2))));
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                PutDrives.newBuilder().addDrives(WeakDrive.row(new DriveId(spare(), 1)))));
    metadata.require(TestBlobs.createBucket(SimulatedClient.BUCKET));
  }

  private SimulatedNode newNode(UUID id) {
    MemoryShardStore store =
        new MemoryShardStore(
            new DriveId(id, 1),
            SimulatedProcess.POOL,
            (shape, dataShard, row, delta, parity) ->
                SimulatedProcess.CODES.of(shape).updateParity(dataShard, row, delta, parity));
    return new SimulatedNode(store, random, bug == PlantedBug.SKIPS_SYNCS);
  }

  private UUID spare() {
    return new UUID(0, nodes.size());
  }

  void run() throws Exception {
    int count = 1 + random.nextInt(GATEWAYS_MAX);
    for (int i = 0; i < count; i++) {
      startGateway("g-" + i);
    }
    while (threads.areAlive()) {
      step();
    }
    rest();
  }

  private void startGateway(String name) {
    gatewayStarts++;
    Gateway gateway = new Gateway(name);
    gateways.add(gateway);
    int clients = 1 + random.nextInt(CLIENTS_MAX);
    for (int i = 0; i < clients; i++) {
      SimulatedClient client =
          new SimulatedClient(
              gateway.process, model, profile, new Random(random.nextLong()), () -> true);
      int clientSteps = 1 + random.nextInt(CLIENT_STEPS_MAX);
      working++;
      threads.start(
          "client",
          () -> {
            client.run(clientSteps);
            working--;
          });
    }
    Random chance = new Random(random.nextLong());
    threads.start("folder", () -> keepUp(gateway, chance));
  }

  /** What a gateway does beside its requests. */
  private void keepUp(Gateway gateway, Random chance) throws Exception {
    SimulatedProcess process = gateway.process;
    while (working > 0 && !process.isDead()) {
      try {
        switch (chance.nextInt(9)) {
          case 8 -> gateway.sweepEndedSessions();
          case 6, 7 -> process.repairers.getFirst().round();
          case 0 -> process.folds.round(process.store.oldestMs());
          case 1 -> process.foldAll();
          case 2 -> process.cleaner.retry();
          case 3 -> process.collector.collect();
          default -> SteppedThreads.pause();
        }
      } catch (MetadataUnavailableException e) {
        // The next round tries again.
      }
      for (int i = chance.nextInt(30); i > 0; i--) {
        SteppedThreads.pause();
      }
    }
  }

  private void step() {
    if (++steps > STEPS_MAX) {
      throw new AssertionError("goes on and on" + threads.describe());
    }
    if (working > 0 && random.nextInt(25) == 0) {
      trouble();
    }
    List<SimulatedLink> busy = new ArrayList<>();
    for (Gateway gateway : gateways) {
      gateway.links.values().stream().filter(SimulatedLink::isBusy).forEach(busy::add);
    }
    if (random.nextInt(WAKE_STEPS) == 0) {
      gateways.forEach(gateway -> gateway.process.wakeReads());
    }
    int ready = threads.runnable();
    if (ready + busy.size() == 0) {
      throw new AssertionError("everybody waits" + threads.describe());
    }
    int next = random.nextInt(ready + busy.size());
    if (next < ready) {
      threads.step();
    } else {
      busy.get(next - ready).step();
    }
    logClock.advanceMs(random.nextInt(20) == 0 ? random.nextInt(700) : random.nextInt(3));
    gateways.forEach(gateway -> gateway.clock.advanceMs(random.nextInt(12)));
    if (random.nextInt(20) == 0) {
      anyGateway().look();
    }
  }

  private <T> T any(T[] all) {
    return all[random.nextInt(all.length)];
  }

  private SimulatedNode anyNode() {
    return List.copyOf(nodes.values()).get(random.nextInt(nodes.size()));
  }

  private Gateway anyGateway() {
    return gateways.get(random.nextInt(gateways.size()));
  }

  private SimulatedLink anyLink() {
    return requireNonNull(anyGateway().links.get(anyNode().id()));
  }

  private void trouble() {
    switch (random.nextInt(14)) {
      case 12 -> anyNode().store().failWrites(any(LASTING));
      case 13 -> anyNode().store().failWrites(null);
      case 0 -> {
        SimulatedNode node = anyNode();
        if (node.isUp()) {
          node.end();
        }
      }
      case 1, 2 -> anyLink().lose();
      case 3 -> anyLink().giveUp();
      case 4 -> {
        if (random.nextInt(3) == 0) {
          weak.loseSlots();
        } else if (random.nextBoolean()) {
          SlotShuffle.shuffle(metadata, random);
        } else {
          weak.loseAll();
        }
      }
      case 5 -> {
        if (gatewayStarts < GATEWAY_STARTS_MAX) {
          int index = random.nextInt(gateways.size());
          Gateway ended = gateways.remove(index);
          ended.end();
          startGateway(random.nextBoolean() ? ended.name : "g-new-" + gatewayStarts);
        }
      }
      case 6, 7, 8 -> anyNode().start();
      default -> anyLink().connect();
    }
  }

  /** Everything is there again and tidied up by a last gateway, and is compared with the model. */
  private void rest() throws Exception {
    gateways.forEach(Gateway::end);
    gateways.clear();
    nodes.values().forEach(SimulatedNode::start);
    nodes.values().forEach(node -> node.store().failWrites(null));
    assertEquals(
        lentBefore, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
    Gateway last = new Gateway("g-last");
    gateways.add(last);
    runAlone(() -> tidy(last));
    runAlone(() -> tidy(last)); // what could not be folded is swept once it is owed
    Map<UUID, MemoryShardStore> drives = new LinkedHashMap<>();
    nodes.forEach((id, node) -> drives.put(id, node.store()));
    RestCheck<MemoryShardStore> check =
        new RestCheck<>(
            last.process,
            model,
            profile,
            drives,
            MemoryShardStore::shards,
            weak,
            id -> last.hidden = id);
    runAlone(check::run);
    last.end();
    assertEquals(
        lentBefore, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
  }

  private void runAlone(SteppedThreads.Body body) {
    threads.start("last", body);
    while (threads.areAlive()) {
      step();
    }
  }

  private void tidy(Gateway gateway) throws Exception {
    SimulatedProcess process = gateway.process;
    process.collector.sweepDeadSessions(List.copyOf(gateway.stores.values()));
    process.foldAll();
    process.repairAll();
    process.abortUploads();
    process.cleaner.retry();
    process.collectAll(
        () -> {
          logClock.advanceMs(10_000);
          gateway.clock.setMs(logClock.millis() + 10_000);
        });
  }
}
