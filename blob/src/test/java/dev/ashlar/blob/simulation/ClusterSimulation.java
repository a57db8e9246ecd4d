package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.move.NotMovedException;
import dev.ashlar.metadata.garbage.DeadSessionSweep;
import dev.ashlar.metadata.garbage.LiveSessions;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One run, all of it drawn from a seed: clients of several gateways change and read the same few
 * objects on the real engine and the real state machine of metadata, over drives in memory that
 * each gateway reaches through a network. Nodes and gateways end and come back, connections are
 * lost, commands and their answers too, clocks differ, a drive comes back empty, slots move from
 * drive to drive. With several profiles, those come and go, objects are copied from one to another,
 * and versions are moved.
 */
final class ClusterSimulation {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("2+1", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("1+2", 4096));

  /** Of runs with several profiles. */
  private static final List<Profile> WIDTHS =
      List.of(Profile.parse("1+2", 4096), Profile.parse("4+2", 4096), Profile.parse("8+3", 4096));

  private static final int WIDEST_SHARDS = 11;

  /** What a drive answers to writes until it recovers. */
  private static final ShardFault[] LASTING = {
    ShardFault.FULL, ShardFault.READ_ONLY, ShardFault.IO_ERROR
  };

  private static final int GATEWAYS_MAX = 3;
  private static final int CLIENTS_MAX = 2;
  private static final int CLIENT_STEPS_MAX = 4;
  private static final int GATEWAY_STARTS_MAX = 6;
  private static final int STEPS_MAX = 400_000;

  /** After about so many steps those who wait for drives look whether these are late. */
  private static final int WAKE_STEPS = 12;

  /** By runs that ended in the midst of it, as those with a planted bug do. */
  private final long lentBefore = SimulatedProcess.POOL.lentBytes();

  private final Random random;
  private final PlantedBug bug;
  private final boolean hasProfiles;
  private final Profile profile;
  private final ManualClock logClock = new ManualClock(100_000);
  private final MemoryMetadata metadata = new MemoryMetadata(logClock);
  private final BytesModel model = new BytesModel();
  private final SteppedThreads threads;
  private final Map<UUID, SimulatedNode> nodes = new LinkedHashMap<>();
  private final List<Gateway> gateways = new ArrayList<>();

  private final WeakDrive weak;
  private final Map<String, Double> work = new TreeMap<>();
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
                      .setNode(
                          NodeRow.newBuilder()
                              .setName(name)
                              .setGateway(true)
                              .setKnowsProfiles(true))));
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
      count("versions moved", process.moves());
      count("samples of parity compared", process.count("ashlar.scrub.compared.samples"));
      assertEquals(
          0,
          process.count("ashlar.scrub.inconsistent.samples"),
          "shards that are as they should be contradict each other");
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
    this(seed, bug, false);
  }

  /**
   * @param hasProfiles whether there are several, which come and go
   */
  ClusterSimulation(long seed, PlantedBug bug, boolean hasProfiles) {
    this.random = new Random(seed);
    this.bug = bug;
    this.hasProfiles = hasProfiles;
    profile = any(hasProfiles ? WIDTHS : PROFILES);
    threads = new SteppedThreads(random);
    // The last one is a spare, which may get the slots of another.
    int used = (hasProfiles ? WIDEST_SHARDS : profile.shards()) + random.nextInt(2);
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
    for (Profile other : hasProfiles ? WIDTHS : List.<Profile>of()) {
      if (random.nextInt(3) > 0) {
        metadata.require(TestProfiles.add(metadata, name(other), other, 1 + random.nextInt(2)));
      }
    }
  }

  private static String name(Profile profile) {
    return "P" + profile.toString().replace('+', '-');
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
    if (hasProfiles) {
      Random ofMover = new Random(random.nextLong());
      threads.start("mover", () -> moveVersions(gateway, ofMover));
    }
  }

  /** What a gateway does beside its requests. */
  private void keepUp(Gateway gateway, Random chance) throws Exception {
    SimulatedProcess process = gateway.process;
    while (working > 0 && !process.isDead()) {
      try {
        switch (chance.nextInt(hasProfiles ? 14 : 9)) {
          case 10, 11, 12, 13 -> changeProfiles(process.client, chance);
          case 9 -> {
            process.parity.checkAll();
            process.losses.verifyAll();
          }
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

  /**
   * Adds or removes a profile, or makes another one the default, if metadata takes it. What the
   * gateway knows of the profiles may be old.
   */
  private void changeProfiles(MetadataClient client, Random chance)
      throws MetadataUnavailableException {
    List<PlacedProfile> present = client.placement().present();
    int number = present.get(chance.nextInt(present.size())).number();
    Profile other = WIDTHS.get(chance.nextInt(WIDTHS.size()));
    int kind = chance.nextInt(5);
    Command.Builder command =
        switch (kind) {
          case 0 -> TestProfiles.remove(client, number);
          case 1 -> TestProfiles.setDefault(client, number);
          default -> TestProfiles.add(client, name(other), other, 1 + chance.nextInt(2));
        };
    if (client.submit(command).getCode() == ResultCode.OK) {
      count(kind == 0 ? "profiles removed" : kind == 1 ? "defaults set" : "profiles added", 1);
    }
  }

  /** Moves versions to other profiles, and back. */
  private void moveVersions(Gateway gateway, Random chance) throws Exception {
    SimulatedProcess process = gateway.process;
    while (working > 0 && !process.isDead()) {
      List<PlacedProfile> present = process.client.placement().present();
      String name = present.get(chance.nextInt(present.size())).name();
      String key = SimulatedClient.keys().get(chance.nextInt(SimulatedClient.keys().size()));
      try {
        process.move(key, chance.nextInt(3) == 0 ? "" : name);
      } catch (NotMovedException | UnavailableException e) {
        // The profile was removed, clients were faster all the time, or drives are away.
      }
      for (int i = chance.nextInt(60); i > 0; i--) {
        SteppedThreads.pause();
      }
    }
  }

  private void count(String what, double times) {
    work.merge(what, times, Double::sum);
  }

  /** How often what was done, lest anybody takes for tested what never happened. */
  Map<String, Double> work() {
    return work;
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
    return any(List.of(all));
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private SimulatedNode anyNode() {
    return any(List.copyOf(nodes.values()));
  }

  private Gateway anyGateway() {
    return any(gateways);
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
    if (hasProfiles) {
      runAlone(() -> scrub(last.process));
      runAlone(() -> tidy(last));
    }
    check(last);
    if (hasProfiles) {
      runAlone(() -> retireProfiles(last));
      check(last);
    }
    last.end();
    assertEquals(
        lentBefore, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
  }

  private void check(Gateway gateway) {
    Map<UUID, MemoryShardStore> drives = new LinkedHashMap<>();
    nodes.forEach((id, node) -> drives.put(id, node.store()));
    RestCheck<MemoryShardStore> check =
        new RestCheck<>(
            gateway.process,
            model,
            profile,
            drives,
            MemoryShardStore::shards,
            hasProfiles ? RestCheck.Losses.NONE : weak,
            id -> gateway.hidden = id);
    runAlone(check::run);
  }

  /** Looks for each shard that metadata knows, and compares parity. */
  private static void scrub(SimulatedProcess process) throws Exception {
    process.suspectAll();
    process.losses.verifyAll();
    process.parity.checkAll();
  }

  /** A profile has nothing any more when all versions have left it, so it can be removed. */
  private void retireProfiles(Gateway gateway) throws Exception {
    gateway.look();
    SimulatedProcess process = gateway.process;
    for (String key : model.keys()) {
      process.move(key, "");
    }
    tidy(gateway);
    PlacementMap map = process.client.placement();
    for (PlacedProfile placed : map.present()) {
      if (placed.number() != map.standardNumber()) {
        Command.Builder remove = TestProfiles.remove(process.client, placed.number());
        assertEquals(ResultCode.OK, process.client.submit(remove).getCode(), placed::toString);
        gateway.look();
      }
    }
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
