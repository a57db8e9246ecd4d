package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.move.NotMovedException;
import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.SteppedDrive;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One run, all of it drawn from a seed: clients of a process change and read objects on the real
 * engine, metadata and drives, the latter on simulated files. Threads, drives and faults are
 * stepped one at a time in any order. The process ends at any write, sync or command, with or
 * without the power of its drives, and another one goes on; drives end, fail, hide and come back,
 * also without what they had; slots get other drives; profiles come and go, and versions move
 * between them. What is owed is repaired meanwhile, what belongs elsewhere is moved, and in the end
 * all of it.
 */
final class EngineSimulation implements SimulatedProcess.Surroundings {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("2+1", 4096),
          Profile.parse("2+2", 4096),
          Profile.parse("4+2", 4096),
          Profile.parse("1+2", 4096),
          Profile.parse("3+2", 4096),
          Profile.parse("2+2,optimizations=off", 4096));
  private static final int PROFILES_ADDED = 3;
  private static final int LIVES_MAX = 4;
  private static final int CLIENTS_MAX = 3;
  private static final int CLIENT_STEPS_MAX = 8;
  private static final int STEPS_MAX = 400_000;
  private static final int SCRUBS = 3;

  /** After about so many steps those who wait for drives look whether these are late. */
  private static final int WAKE_STEPS = 12;

  private static final long NEVER = SimulatedDrives.NEVER;

  /** By runs that ended in the midst of it, as those with a planted bug do. */
  private final long lentBefore = SimulatedProcess.POOL.lentBytes();

  private final Random random;
  private final PlantedBug bug;
  private final Profile profile;
  private final boolean hasProfiles;
  private final boolean isCalm;
  private final int windowStripes;
  private final ManualClock clock = new ManualClock(1000);
  private final MemoryTable table = new MemoryTable();
  private final BytesModel model = new BytesModel();
  private final SimulatedDrives drives;
  private SteppedThreads threads;
  private MemoryMetadata metadata;
  private SimulatedProcess process;
  private long callsUntilCrash = NEVER;
  private boolean isCrashing;
  private boolean hadFaults;
  private final Map<String, Double> work = new TreeMap<>();
  private int working;
  private int steps;

  EngineSimulation(long seed, PlantedBug bug) throws IOException {
    this(seed, bug, false);
  }

  /**
   * @param hasProfiles whether profiles come and go
   */
  EngineSimulation(long seed, PlantedBug bug, boolean hasProfiles) throws IOException {
    this.bug = bug;
    this.hasProfiles = hasProfiles;
    random = new Random(seed);
    profile = PROFILES.get(random.nextInt(PROFILES.size()));
    isCalm = random.nextInt(4) == 0;
    windowStripes = 1 + random.nextInt(3);
    threads = new SteppedThreads(random);
    int count = profile.shards() + random.nextInt(3);
    metadata = new MemoryMetadata(table, clock);
    drives =
        new SimulatedDrives(
            random, profile, MemoryMetadata.sequentialIds(count), bug == PlantedBug.SKIPS_SYNCS);
    PutDrives.Builder put =
        MemoryMetadata.drives(profile, MemoryMetadata.sequentialIds(count), 1 + random.nextInt(3));
    metadata.require(Command.newBuilder().setPutDrives(put));
    metadata.require(TestBlobs.createBucket(SimulatedClient.BUCKET));
    for (int i = 0; i < PROFILES_ADDED; i++) {
      changeProfiles(random);
    }
    process = newProcess();
  }

  /**
   * Adds or removes a profile, or makes another one the default, if metadata takes it. All can lose
   * at least as many shards as the first one, as the faults expect.
   */
  private void changeProfiles(Random chance) throws IOException {
    if (!hasProfiles) {
      return;
    }
    List<PlacedProfile> present = metadata.placement().present();
    int number = present.get(chance.nextInt(present.size())).number();
    int drives = metadata.drives().size();
    int spareMore = chance.nextInt(Math.min(3, drives - profile.parityShards()));
    int parity = profile.parityShards() + spareMore;
    Profile other =
        new Profile(1 + chance.nextInt(drives - parity), parity, 4096 << chance.nextInt(3));
    Command.Builder command =
        switch (chance.nextInt(3)) {
          case 0 -> TestProfiles.remove(metadata, number);
          case 1 -> TestProfiles.setDefault(metadata, number);
          default ->
              TestProfiles.add(
                  metadata, "P" + chance.nextInt(PROFILES_ADDED), other, 1 + chance.nextInt(3));
        };
    try {
      metadata.submit(command);
    } catch (MetadataUnavailableException e) {
      throw new IOException(e);
    }
  }

  private SimulatedProcess newProcess() {
    return new SimulatedProcess(
        SimulatedProcess.config(profile, windowStripes), bug.in(metadata), clock, this);
  }

  void run() throws Exception {
    int lives = 1 + random.nextInt(LIVES_MAX);
    for (int life = 0; life < lives; life++) {
      live();
      endProcess();
      restart(random.nextInt(4) > 0);
    }
    drives.forgetTroubles();
    hadFaults = true; // until what is owed has been repaired
    rest();
  }

  /** Everything comes back, is tidied up, and is compared with the model to the last byte. */
  private void rest() throws Exception {
    endProcess();
    restart(true);
    checkRedundancy();
    alone("repair", this::repairWithoutScrub);
    checkRedundancy();
    endProcess();
    restart(true, true); // what repair has counted on is not only in the page cache
    checkRedundancy();
    alone("tidy", this::tidy);
    endProcess();
    restart(true);
    alone("tidy", this::tidy);
    RestCheck<SteppedDrive> check =
        new RestCheck<>(
            process,
            model,
            profile,
            drives.byId(),
            SteppedDrive::shards,
            losses(),
            drives::hideOnly);
    alone("check", check::run);
    endProcess();
  }

  private void alone(String name, Work work) throws IOException {
    background(name, work);
    runAll();
  }

  private void checkRedundancy() throws IOException {
    RedundancyCheck check =
        new RedundancyCheck(
            process,
            model,
            drives.byId(),
            drives.damaged(),
            drives.damagedMedia(),
            drives.failedTogether(),
            drives::hideOnly);
    alone("check redundancy", check::run);
  }

  /** What metadata knows to be owed is there again, and nothing is unfolded. */
  private void repairWithoutScrub() throws Exception {
    process.collector.sweepDeadSessions(drives.running());
    process.foldAll();
    process.repairAll();
    process.foldAll();
    boolean mayWaitForScrub = !drives.damaged().isEmpty(); // where no more may be owed
    assertTrue(mayWaitForScrub || process.client.unfolded(null, 1).isEmpty(), "unfolded");
  }

  /** What failed writes and flipped bits took with them was found when all was read. */
  private RestCheck.Losses losses() {
    return new RestCheck.Losses() {
      @Override
      public @Nullable UUID drive() {
        return null;
      }

      @Override
      public boolean mayLack(BlobId blob) {
        return false;
      }

      @Override
      public boolean mayKeepDeleted(UUID drive) {
        return drives.damagedMedia().contains(drive);
      }
    };
  }

  private void tidy() throws Exception {
    process.collector.sweepDeadSessions(drives.running());
    process.foldAll();
    process.repairAll();
    for (int i = 0; i < SCRUBS; i++) { // where many shards are damaged, some wait for others
      scrubAll();
      process.foldAll();
      process.repairAll();
    }
    process.foldAll();
    process.abortUploads();
    process.cleaner.retry();
    process.collectAll(() -> clock.advanceMs(10_000));
  }

  /** Each drive reads all that it has, and each shard that metadata knows is looked for. */
  private void scrubAll() throws Exception {
    for (SteppedDrive drive : drives.running()) {
      drive.scrub(process::suspect);
    }
    process.losses.verifyAll();
    process.suspectAll();
    process.losses.verifyAll();
  }

  private void live() throws Exception {
    callsUntilCrash = random.nextInt(5) == 0 ? NEVER : 1 + random.nextInt(400);
    isCrashing = false;
    background("sweep", () -> process.collector.sweepDeadSessions(drives.running()));
    int clients = 1 + random.nextInt(CLIENTS_MAX);
    working = clients;
    for (int i = 0; i < clients; i++) {
      SimulatedClient client =
          new SimulatedClient(
              process, model, profile, new Random(random.nextLong()), () -> hadFaults);
      int clientSteps = 1 + random.nextInt(CLIENT_STEPS_MAX);
      background(
          "client-" + i,
          () -> {
            client.run(clientSteps);
            working--;
          });
    }
    background("folder", () -> keepUp(new Random(random.nextLong())));
    if (hasProfiles) {
      background("mover", () -> moveVersions(new Random(random.nextLong())));
    }
    for (Repairer repairer : process.repairers) {
      background("repair", () -> repair(repairer, new Random(random.nextLong())));
    }
    runAll();
  }

  private interface Work {
    void run() throws Exception;
  }

  /** Runs it as a thread of the process, which metadata may refuse. */
  private void background(String name, Work work) {
    threads.start(
        name,
        () -> {
          try {
            work.run();
          } catch (MetadataUnavailableException e) {
            assertTrue(hadFaults || process.isDead(), "metadata is unavailable");
          }
        });
  }

  /** What a process does beside its requests. */
  private void keepUp(Random chance) throws Exception {
    while (working > 0 && !process.isDead()) {
      try {
        switch (chance.nextInt(hasProfiles ? 10 : 9)) {
          case 9 -> changeProfiles(chance);
          case 8 -> process.parity.checkAll();
          case 0 -> process.folds.sweep();
          case 1, 2 -> process.folds.round(process.store.oldestMs());
          case 3 -> process.foldAll();
          case 4 -> process.cleaner.retry();
          case 5 -> process.collector.collect();
          case 6 -> {
            drives.any().scrub(process::suspect);
            process.losses.verifyAll();
          }
          default -> SteppedThreads.pause();
        }
      } catch (MetadataUnavailableException e) {
        assertTrue(hadFaults || process.isDead(), "metadata is unavailable");
      }
      for (int i = chance.nextInt(40); i > 0; i--) {
        SteppedThreads.pause();
      }
    }
  }

  /** Moves versions to other profiles, and back. */
  private void moveVersions(Random chance) throws Exception {
    while (working > 0 && !process.isDead()) {
      List<PlacedProfile> present = metadata.placement().present();
      String name = present.get(chance.nextInt(present.size())).name();
      String key = SimulatedClient.keys().get(chance.nextInt(SimulatedClient.keys().size()));
      try {
        process.move(key, chance.nextInt(3) == 0 ? "" : name);
      } catch (NotMovedException e) {
        SteppedThreads.pause(); // the profile was removed, or clients were faster all the time
      } catch (UnavailableException e) {
        boolean areShardsOnTheirWay = metadata.placement().epoch() > 1;
        assertTrue(
            hadFaults || process.isDead() || areShardsOnTheirWay, () -> "no reason for " + e);
      }
      for (int i = chance.nextInt(60); i > 0; i--) {
        SteppedThreads.pause();
      }
    }
  }

  private void repair(Repairer repairer, Random chance) throws Exception {
    while (working > 0 && !process.isDead()) {
      try {
        repairer.round();
        noteRepaired();
      } catch (MetadataUnavailableException e) {
        assertTrue(hadFaults || process.isDead(), "metadata is unavailable");
      }
      for (int i = chance.nextInt(60); i > 0; i--) {
        SteppedThreads.pause();
      }
    }
  }

  /**
   * Asks metadata itself, in one step: where the process asks, other threads have turns before it
   * has the answer, and a drive that is replaced then would count as rebuilt, so that another one
   * could be replaced too.
   */
  private void noteRepaired() throws MetadataUnavailableException {
    if (SimulatedProcess.isWhole(metadata)) {
      drives.repaired();
    }
  }

  private void runAll() throws IOException {
    while (!isCrashing && threads.areAlive()) {
      step();
    }
  }

  private void step() throws IOException {
    if (++steps > STEPS_MAX) {
      throw new AssertionError("goes on and on" + threads.describe());
    }
    if (!isCalm && random.nextInt(60) == 0 && working > 0) {
      hadFaults = true;
      drives.trouble(metadata);
      if (random.nextInt(20) == 0) {
        drives.failTogether();
      }
    }
    if (working > 0 && random.nextInt(200) == 0 && !isCrashing) {
      SlotShuffle.shuffle(metadata, random);
    }
    List<SteppedDrive> busy = drives.running().stream().filter(SteppedDrive::hasWork).toList();
    if (random.nextInt(WAKE_STEPS) == 0) {
      process.wakeReads();
    }
    int ready = threads.runnable();
    if (ready + busy.size() == 0) {
      throw new AssertionError("everybody waits" + threads.describe());
    }
    int next = random.nextInt(ready + busy.size());
    if (next < ready) {
      threads.step();
    } else {
      SteppedDrive drive = busy.get(next - ready);
      step(drive, drive::step);
    }
    if (random.nextInt(15) == 0 && !isCrashing) {
      SteppedDrive drive = drives.any();
      step(drive, drive::keep);
    }
    clock.advanceMs(random.nextInt(20) == 0 ? random.nextInt(700) : random.nextInt(3));
  }

  private void step(SteppedDrive drive, Runnable work) {
    SimulatedDrives.Step step = drives.step(drive, work, callsUntilCrash);
    callsUntilCrash -= callsUntilCrash == NEVER ? 0 : step.calls();
    isCrashing |= !step.hasPower() && callsUntilCrash <= 0;
  }

  /** How often what was done in all lives, lest anybody takes for tested what never happened. */
  Map<String, Double> work() {
    return work;
  }

  /** Its threads run to their ends, in which nothing reaches a drive or metadata any more. */
  private void endProcess() {
    callsUntilCrash = NEVER;
    assertTrue(
        drives.mayHaveLost() || process.repairs("lost.shards") == 0,
        "a shard that was there is owed");
    assertTrue(
        drives.mayHaveLost() || process.count("ashlar.scrub.inconsistent.samples") == 0,
        "shards that are as they should be contradict each other");
    for (String what :
        List.of(
            "rebuilt.shards",
            "found.shards",
            "moved.shards",
            "refused",
            "lost.shards",
            "refuted.shards")) {
      work.merge(what, process.repairs(what), Double::sum);
    }
    work.merge("profile.moves", (double) process.moves(), Double::sum);
    for (String what : List.of("blob.hedges", "blob.hedges.won", "scrub.compared.samples")) {
      work.merge(what, process.count("ashlar." + what), Double::sum);
    }
    process.die();
    drives.die();
    while (threads.areAlive()) {
      if (threads.runnable() == 0) {
        throw new AssertionError("hangs when the process dies" + threads.describe());
      }
      threads.step();
    }
    assertEquals(
        lentBefore, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
    assertEquals(0, process.memory.reservedBytes());
  }

  /** Another process, perhaps after the power was away, perhaps dying as it starts. */
  private void restart(boolean withAll) throws IOException {
    restart(withAll, random.nextBoolean());
  }

  private void restart(boolean withAll, boolean isPowerLost) throws IOException {
    isCrashing = false;
    drives.restart(withAll, isPowerLost);
    hadFaults |= drives.mayHaveLost();
    metadata = new MemoryMetadata(table, clock);
    drives.register(metadata);
    process = newProcess();
  }

  @Override
  public @Nullable ShardStore drive(UUID id) {
    ShardStore drive = drives.find(id);
    return drive == null ? null : bug.in(drive);
  }

  @Override
  public SimulatedProcess.Fate fate(Command.Builder command) {
    if (random.nextBoolean()) {
      countCall();
    }
    if (isCalm || working == 0 || random.nextInt(25) > 0) {
      return SimulatedProcess.Fate.ANSWERED;
    }
    hadFaults = true;
    SimulatedProcess.Fate[] all = SimulatedProcess.Fate.values();
    return all[random.nextInt(all.length)];
  }

  @Override
  public void committed(Command.Builder command) {
    countCall();
  }

  /** One of the calls at which the process may end. */
  private void countCall() {
    if (callsUntilCrash != NEVER && --callsUntilCrash <= 0) {
      isCrashing = true;
      process.die();
    }
  }

  @Override
  public BytesModel model() {
    return model;
  }

  @Override
  public Duration grace() {
    return SimulatedProcess.GRACE;
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
