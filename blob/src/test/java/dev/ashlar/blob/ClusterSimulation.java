package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One run, all of it drawn from a seed: clients of several gateways change and read the same few
 * objects on the real engine and the real state machine of metadata, over drives in memory that
 * each gateway reaches through a network. Nodes and gateways end and come back, connections are
 * lost, commands and their answers too, clocks differ, a drive comes back empty or its slots move.
 */
final class ClusterSimulation {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("2+1", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("1+2", 4096));
  private static final int GATEWAYS_MAX = 3;
  private static final int CLIENTS_MAX = 2;
  private static final int CLIENT_STEPS_MAX = 4;
  private static final int GATEWAY_STARTS_MAX = 6;
  private static final int STEPS_MAX = 100_000;
  private static final long NEVER = Long.MAX_VALUE;

  private final Random random;
  private final PlantedBug bug;
  private final Profile profile;
  private final ManualClock logClock = new ManualClock(100_000);
  private final MemoryTable table = new MemoryTable();
  private final MemoryMetadata metadata = new MemoryMetadata(table, logClock);
  private final BytesModel model = new BytesModel();
  private final SteppedThreads threads;
  private final Map<UUID, SimulatedNode> nodes = new LinkedHashMap<>();
  private final List<Gateway> gateways = new ArrayList<>();

  /** The only drive that may lose what it holds, or its slots. */
  private final SimulatedNode weak;

  /** The blobs that it may lack something of. */
  private final Set<BlobId> lost = new HashSet<>();

  private boolean hasLost;
  private int gatewayStarts;
  private int working;
  private int steps;

  /** One of the gateways, with its own clock, session and connections. */
  private final class Gateway implements SimulatedProcess.Surroundings {
    private final ManualClock clock = new ManualClock(95_000 + random.nextInt(10_000));
    private final Map<UUID, SimulatedLink> links = new LinkedHashMap<>();
    private final Map<UUID, ShardStore> stores = new LinkedHashMap<>();
    private final SimulatedProcess process;
    private @Nullable UUID hidden;

    Gateway() {
      for (SimulatedNode node : nodes.values()) {
        SimulatedLink link = new SimulatedLink(node, SimulatedProcess.POOL, random);
        link.connect();
        links.put(node.id(), link);
        stores.put(node.id(), bug.in((ShardStore) link));
      }
      process =
          new SimulatedProcess(
              SimulatedProcess.config(profile), bug.in(metadata.anotherClient()), clock, this);
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
    public SimulatedProcess.Fate fate() {
      boolean isFine = working == 0 || random.nextInt(20) > 0;
      return isFine ? SimulatedProcess.Fate.ANSWERED : any(SimulatedProcess.Fate.values());
    }

    @Override
    public void committed() {}

    @Override
    public BytesModel model() {
      return model;
    }

    @Override
    public SteppedThreads threads() {
      return threads;
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
    weak = List.copyOf(nodes.values()).get(random.nextInt(used));
    submit(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    profile, MemoryMetadata.sequentialIds(used), 1 + random.nextInt(2))));
    submit(
        Command.newBuilder()
            .setPutDrives(PutDrives.newBuilder().addDrives(row(new DriveId(spare(), 1)))));
    submit(TestBlobs.createBucket(SimulatedClient.BUCKET));
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

  private void submit(Command.Builder command) {
    try {
      assertEquals(ResultCode.OK, metadata.submit(command).getCode());
    } catch (MetadataUnavailableException e) {
      throw new AssertionError(e);
    }
  }

  private static DriveRow row(DriveId drive) {
    return DriveRow.newBuilder()
        .setDriveHigh(drive.id().getMostSignificantBits())
        .setDriveLow(drive.id().getLeastSignificantBits())
        .setIncarnation(drive.incarnation())
        .build();
  }

  void run() throws Exception {
    int count = 1 + random.nextInt(GATEWAYS_MAX);
    for (int i = 0; i < count; i++) {
      startGateway();
    }
    while (threads.areAlive()) {
      step();
    }
    rest();
  }

  private void startGateway() {
    gatewayStarts++;
    Gateway gateway = new Gateway();
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
    threads.start("folder", () -> keepUp(gateway.process, chance));
  }

  /** What a gateway does beside its requests. */
  private void keepUp(SimulatedProcess process, Random chance) throws Exception {
    while (working > 0 && !process.isDead()) {
      try {
        switch (chance.nextInt(6)) {
          case 0 -> process.folder.round(process.store.oldestMs());
          case 1 -> process.foldAll();
          case 2 -> process.leftovers.retry();
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
  }

  private <T> T any(T[] all) {
    return all[random.nextInt(all.length)];
  }

  private SimulatedNode anyNode() {
    return List.copyOf(nodes.values()).get(random.nextInt(nodes.size()));
  }

  private SimulatedLink anyLink() {
    return gateways.get(random.nextInt(gateways.size())).links.get(anyNode().id());
  }

  private void trouble() {
    switch (random.nextInt(12)) {
      case 0 -> {
        SimulatedNode node = anyNode();
        if (node.isUp()) {
          node.end();
        }
      }
      case 1, 2 -> anyLink().lose();
      case 3 -> anyLink().giveUp();
      case 4 -> loseOrMove();
      case 5 -> {
        if (gatewayStarts < GATEWAY_STARTS_MAX) {
          gateways.remove(random.nextInt(gateways.size())).end();
          startGateway();
        }
      }
      case 6, 7, 8 -> anyNode().start();
      default -> anyLink().connect();
    }
  }

  /** Its drive comes back empty, or another drive gets its slots, which nothing has filled yet. */
  private void loseOrMove() {
    boolean moves =
        metadata.placement().slotDrives().stream().anyMatch(pg -> pg.contains(weak.id()));
    if (!moves) {
      return;
    }
    if (random.nextInt(3) == 0) {
      submit(
          Command.newBuilder().setPutDrives(PutDrives.newBuilder().setPgMap(moved().toMessage())));
    } else {
      weak.end();
      weak.wipe();
      submit(
          Command.newBuilder()
              .setPutDrives(PutDrives.newBuilder().addDrives(row(weak.store().drive()))));
      weak.start();
    }
    hasLost = true;
    lost.addAll(blobs());
  }

  private PlacementMap moved() {
    PlacementMap map = metadata.placement();
    List<List<UUID>> slots = new ArrayList<>();
    for (List<UUID> pg : map.slotDrives()) {
      slots.add(pg.stream().map(id -> id.equals(weak.id()) ? spare() : id).toList());
    }
    return new PlacementMap(map.epoch() + 1, map.profile(), slots);
  }

  private Set<BlobId> blobs() {
    Set<BlobId> blobs = new HashSet<>();
    table
        .rows()
        .subMap(Keys.table('P'), Keys.behind(Keys.table('P')))
        .values()
        .forEach(
            value -> {
              try {
                blobs.add(BlobId.of(BlobRow.parseFrom(value).getId()));
              } catch (com.google.protobuf.InvalidProtocolBufferException e) {
                throw new AssertionError(e);
              }
            });
    return blobs;
  }

  /** Everything is there again and tidied up by a last gateway, and is compared with the model. */
  private void rest() throws Exception {
    gateways.forEach(Gateway::end);
    gateways.clear();
    nodes.values().forEach(SimulatedNode::start);
    assertEquals(0, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
    Gateway last = new Gateway();
    gateways.add(last);
    runAlone(() -> tidy(last));
    runAlone(() -> tidy(last)); // what could not be folded is swept once it is owed
    // Drives that are in no placement group any more hold what nobody looks for.
    Map<UUID, MemoryShardStore> drives = new LinkedHashMap<>();
    metadata
        .placement()
        .slotDrives()
        .forEach(pg -> pg.forEach(id -> drives.put(id, nodes.get(id).store())));
    RestCheck<MemoryShardStore> check =
        new RestCheck<>(
            last.process,
            model,
            profile,
            drives,
            MemoryShardStore::shards,
            losses(),
            id -> last.hidden = id);
    runAlone(check::run);
    last.end();
    assertEquals(0, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
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
    do {
      logClock.advanceMs(10_000);
      gateway.clock.setMs(logClock.millis() + 10_000);
      process.collector.collect();
    } while (!process.client.garbage(NEVER, null, 1).isEmpty());
  }

  private RestCheck.Losses losses() {
    boolean isMoved =
        metadata.placement().slotDrives().stream().anyMatch(pg -> pg.contains(spare()));
    UUID owner = isMoved ? spare() : weak.id();
    return new RestCheck.Losses() {
      @Override
      public @Nullable UUID drive() {
        return hasLost ? owner : null;
      }

      @Override
      public boolean mayLack(BlobId blob) {
        return lost.contains(blob);
      }
    };
  }
}
