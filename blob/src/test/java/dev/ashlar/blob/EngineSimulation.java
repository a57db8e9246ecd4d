package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.SteppedDrive;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
 * also without what they had; slots get other drives. What is owed is repaired meanwhile, what
 * belongs elsewhere is moved, and in the end all of it.
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
  private static final int LIVES_MAX = 4;
  private static final int CLIENTS_MAX = 3;
  private static final int CLIENT_STEPS_MAX = 8;
  private static final int STEPS_MAX = 400_000;
  private static final int REPAIR_ROUNDS_MAX = 100;
  private static final int SCRUBS = 3;
  private static final long NEVER = Long.MAX_VALUE;

  private final Random random;
  private final Profile profile;
  private final boolean isCalm;
  private final ManualClock clock = new ManualClock(1000);
  private final MemoryTable table = new MemoryTable();
  private final BytesModel model = new BytesModel();
  private final List<SteppedDrive.Medium> media = new ArrayList<>();

  /** Those that run, and may be hidden. */
  private final Map<UUID, SteppedDrive> drives = new LinkedHashMap<>();

  private final Map<UUID, Trouble> troubles = new HashMap<>();
  private SteppedThreads threads;
  private MemoryMetadata metadata;
  private SimulatedProcess process;
  private long callsUntilCrash = NEVER;
  private boolean isCrashing;
  private boolean hadFaults;
  private final Map<String, Double> repairs = new TreeMap<>();
  private @Nullable UUID failed;

  /** A drive that was replaced, until all that it had is there again. */
  private @Nullable UUID replaced;

  /** Whether a drive may have lost what metadata does not know of. */
  private boolean mayHaveLost;

  /** A drive on which bits have flipped: nobody knows which, and what a restart makes of them. */
  private @Nullable UUID rotten;

  private int working;
  private int steps;

  /** Why a drive is not to be counted on. */
  private static final class Trouble {
    /** Calls that it has left; {@link #NEVER}: it does not die. */
    long dies = NEVER;

    boolean isHidden;
    boolean isGone;
  }

  EngineSimulation(long seed) throws IOException {
    random = new Random(seed);
    profile = PROFILES.get(random.nextInt(PROFILES.size()));
    isCalm = random.nextInt(4) == 0;
    threads = new SteppedThreads(random);
    int count = profile.shards() + random.nextInt(3);
    metadata = new MemoryMetadata(table, clock);
    for (UUID id : MemoryMetadata.sequentialIds(count)) {
      SteppedDrive.Medium medium = new SteppedDrive.Medium(id, random);
      media.add(medium);
      open(medium);
    }
    PutDrives.Builder put =
        MemoryMetadata.drives(profile, MemoryMetadata.sequentialIds(count), 1 + random.nextInt(3));
    metadata.require(Command.newBuilder().setPutDrives(put));
    metadata.require(TestBlobs.createBucket(SimulatedClient.BUCKET));
    process = newProcess();
  }

  private SimulatedProcess newProcess() {
    return new SimulatedProcess(SimulatedProcess.config(profile), metadata, clock, this);
  }

  void run() throws Exception {
    int lives = 1 + random.nextInt(LIVES_MAX);
    for (int life = 0; life < lives; life++) {
      live();
      endProcess();
      restart(random.nextInt(4) > 0);
    }
    troubles.clear();
    hadFaults = true; // until what is owed has been repaired
    rest();
  }

  /** Everything comes back, is tidied up, and is compared with the model to the last byte. */
  private void rest() throws Exception {
    for (int i = 0; i < 2; i++) {
      endProcess();
      restart(true);
      background("tidy", this::tidy);
      runAll();
    }
    RestCheck<SteppedDrive> check =
        new RestCheck<>(
            process, model, profile, drives, SteppedDrive::shards, losses(), this::hideOnly);
    background("check", check::run);
    runAll();
    endProcess();
  }

  /** What failed writes and flipped bits took with them was found when all was read. */
  private static RestCheck.Losses losses() {
    return new RestCheck.Losses() {
      @Override
      public @Nullable UUID drive() {
        return null;
      }

      @Override
      public boolean mayLack(BlobId blob) {
        return false;
      }
    };
  }

  private void hideOnly(@Nullable UUID hidden) {
    drives.keySet().forEach(id -> trouble(id).isHidden = id.equals(hidden));
  }

  private void tidy() throws Exception {
    process.collector.sweepDeadSessions(List.copyOf(drives.values()));
    process.foldAll();
    repairAll();
    for (int i = 0; i < SCRUBS; i++) { // where many shards are damaged, some wait for others
      scrubAll();
      process.foldAll();
      repairAll();
    }
    process.foldAll();
    process.leftovers.retry();
    do {
      clock.advanceMs(10_000);
      process.collector.collect();
    } while (!process.client.garbage(NEVER, null, 1).isEmpty());
  }

  private void repairAll() throws Exception {
    for (int round = 0; !process.isWhole(); round++) {
      if (round == REPAIR_ROUNDS_MAX) {
        throw new AssertionError("stays owed: " + process.client.debts());
      }
      process.repairers.getFirst().round();
      process.leftovers.retry();
    }
  }

  /** Each drive reads all that it has, and each shard that metadata knows is looked for. */
  private void scrubAll() throws Exception {
    for (SteppedDrive drive : List.copyOf(drives.values())) {
      drive.scrub(process::suspect);
    }
    process.losses.lookAtAll();
    int groups = process.client.placement().slotDrives().size();
    for (int pg = 0; pg < groups; pg++) {
      for (BlobRow row : process.client.group(pg, null, 1000)) {
        StripeLayout layout = WindowRead.layout(row);
        for (int slot = 0; slot < profile.shards(); slot++) {
          if (layout.shardLength(slot) > 0) {
            process.suspect(
                ShardId.of(row, slot),
                new ByteRange(0, layout.shardLength(slot)),
                ShardFault.MISSING);
          }
        }
      }
    }
    process.losses.lookAtAll();
  }

  private void live() throws Exception {
    callsUntilCrash = random.nextInt(5) == 0 ? NEVER : 1 + random.nextInt(400);
    isCrashing = false;
    background("sweep", () -> process.collector.sweepDeadSessions(List.copyOf(drives.values())));
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
        switch (chance.nextInt(8)) {
          case 0 -> process.folder.sweep();
          case 1, 2 -> process.folder.round(process.store.oldestMs());
          case 3 -> process.foldAll();
          case 4 -> process.leftovers.retry();
          case 5 -> process.collector.collect();
          case 6 -> {
            any(List.copyOf(drives.values())).scrub(process::suspect);
            process.losses.lookAtAll();
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

  private void repair(Repairer repairer, Random chance) throws Exception {
    while (working > 0 && !process.isDead()) {
      try {
        repairer.round();
        if (process.isWhole()) {
          replaced = null;
        }
      } catch (MetadataUnavailableException e) {
        assertTrue(hadFaults || process.isDead(), "metadata is unavailable");
      }
      for (int i = chance.nextInt(60); i > 0; i--) {
        SteppedThreads.pause();
      }
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
      trouble();
    }
    if (working > 0 && random.nextInt(200) == 0 && !isCrashing) {
      SlotShuffle.shuffle(metadata, random);
    }
    List<SteppedDrive> busy = drives.values().stream().filter(SteppedDrive::hasWork).toList();
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
      SteppedDrive drive = any(List.copyOf(drives.values()));
      step(drive, drive::keep);
    }
    clock.advanceMs(random.nextInt(20) == 0 ? random.nextInt(700) : random.nextInt(3));
  }

  private void step(SteppedDrive drive, Runnable work) {
    Trouble trouble = trouble(drive.medium().id());
    SimulatedDrive disk = drive.medium().disk();
    long left = Math.min(callsUntilCrash, trouble.dies);
    disk.crashAtCall(left);
    long before = disk.calls();
    boolean hasPower = true;
    try {
      work.run();
    } catch (PowerLoss e) {
      hasPower = false;
    }
    long used = disk.calls() - before;
    callsUntilCrash -= callsUntilCrash == NEVER ? 0 : used;
    trouble.dies -= trouble.dies == NEVER ? 0 : used;
    if (!hasPower) {
      if (callsUntilCrash <= 0) {
        isCrashing = true;
      } else {
        end(drive);
      }
    }
  }

  private void end(SteppedDrive drive) {
    UUID id = drive.medium().id();
    drives.remove(id);
    Trouble trouble = trouble(id);
    trouble.dies = NEVER;
    trouble.isGone = true;
    drive.die();
  }

  private Trouble trouble(UUID id) {
    return troubles.computeIfAbsent(id, each -> new Trouble());
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /** Something happens to a drive, or is over. */
  private void trouble() throws IOException {
    hadFaults = true;
    SteppedDrive drive = any(List.copyOf(drives.values()));
    Trouble trouble = trouble(drive.medium().id());
    boolean mayFail = troubled() < profile.parityShards() && !isTroubled(drive.medium().id());
    switch (random.nextInt(10)) {
      case 0, 1 -> {
        if (mayFail) {
          trouble.dies = 1L + random.nextInt(12);
        }
      }
      case 2 -> {
        if (mayFail && failed == null && replaced == null) {
          mayHaveLost = true;
          failed = drive.medium().id();
          drive.medium().disk().failAtCall(1 + random.nextInt(8));
        }
      }
      case 3 -> {
        if (mayFail) {
          trouble.isHidden = true;
        }
      }
      case 9 -> {
        if (mayFail && failed == null && replaced == null && rotten == null) {
          mayHaveLost = true;
          rotten = drive.medium().id();
          for (int i = 1 + random.nextInt(3); i > 0; i--) {
            drive.rot();
          }
        }
      }
      case 4 -> drive.loseAnswers(1 + random.nextInt(2));
      case 5 -> drive.refuseRequests(1 + random.nextInt(3));
      default -> comeBack(any(media));
    }
  }

  /** A drive that failed once stays on the list: nobody knows what it lost. */
  private int troubled() {
    return (int) media.stream().filter(medium -> isTroubled(medium.id())).count();
  }

  private boolean isTroubled(UUID id) {
    Trouble trouble = trouble(id);
    return trouble.dies != NEVER
        || trouble.isHidden
        || trouble.isGone
        || id.equals(failed)
        || id.equals(replaced)
        || id.equals(rotten);
  }

  private void comeBack(SteppedDrive.Medium medium) throws IOException {
    Trouble trouble = trouble(medium.id());
    trouble.isHidden = false;
    if (trouble.isGone) {
      trouble.isGone = false;
      revive(medium);
      maybeReplace(medium);
      open(medium);
      register();
    }
  }

  /**
   * Only one at a time, and where it may be one more that blobs lose than what a write may have
   * left owed.
   */
  private void maybeReplace(SteppedDrive.Medium medium) {
    if (profile.parityShards() > 0
        && failed == null
        && replaced == null
        && (rotten == null || rotten.equals(medium.id()))
        && random.nextInt(3) == 0) {
      hadFaults = true;
      replaced = medium.id();
      mayHaveLost = true;
      medium.replace();
    }
  }

  private void revive(SteppedDrive.Medium medium) {
    if (random.nextBoolean()) {
      medium.afterKill();
    } else {
      medium.afterPowerLoss();
    }
  }

  private void open(SteppedDrive.Medium medium) throws IOException {
    drives.put(
        medium.id(),
        SteppedDrive.open(
            medium, new SteppedDrive.Parts(SimulatedProcess.POOL, SimulatedProcess.CODES::of)));
  }

  private void register() {
    PutDrives.Builder put = PutDrives.newBuilder();
    Map<UUID, DriveId> registered = metadata.drives();
    for (SteppedDrive drive : drives.values()) {
      DriveId present = drive.drive();
      if (!present.equals(registered.get(present.id()))) {
        put.addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(present.id().getMostSignificantBits())
                .setDriveLow(present.id().getLeastSignificantBits())
                .setIncarnation(present.incarnation()));
      }
    }
    if (put.getDrivesCount() > 0) {
      metadata.require(Command.newBuilder().setPutDrives(put));
    }
  }

  /** What repair came to in all lives, so that nobody takes for tested what never happened. */
  Map<String, Double> repairs() {
    return repairs;
  }

  /** Its threads run to their ends, in which nothing reaches a drive or metadata any more. */
  private void endProcess() {
    callsUntilCrash = NEVER;
    assertTrue(
        mayHaveLost || process.repairs("lost.shards") == 0, "a shard that was there is owed");
    for (String what :
        List.of(
            "rebuilt.shards",
            "found.shards",
            "moved.shards",
            "refused",
            "lost.shards",
            "refuted.shards")) {
      repairs.merge(what, process.repairs(what), Double::sum);
    }
    process.die();
    drives.values().forEach(SteppedDrive::die);
    while (threads.areAlive()) {
      if (threads.runnable() == 0) {
        throw new AssertionError("hangs when the process dies" + threads.describe());
      }
      threads.step();
    }
    assertEquals(0, SimulatedProcess.POOL.lentBytes(), "slabs in use when nothing is in flight");
    assertEquals(0, process.memory.reservedBytes());
  }

  /** Another process, perhaps after the power was away, perhaps dying as it starts. */
  private void restart(boolean withAll) throws IOException {
    isCrashing = false;
    boolean isPowerLost = random.nextBoolean();
    drives.clear();
    for (SteppedDrive.Medium medium : media) {
      if (isPowerLost) {
        medium.afterPowerLoss();
      } else {
        medium.afterKill();
      }
      Trouble trouble = trouble(medium.id());
      trouble.isHidden = false;
      trouble.dies = NEVER;
      if (withAll || !trouble.isGone) {
        trouble.isGone = false;
        if (random.nextInt(8) == 0) {
          maybeReplace(medium);
        }
        startEngine(medium);
      }
    }
    metadata = new MemoryMetadata(table, clock);
    register();
    process = newProcess();
  }

  private void startEngine(SteppedDrive.Medium medium) throws IOException {
    if (random.nextInt(8) == 0) {
      medium.disk().crashAtCall(1 + random.nextInt(4));
      try {
        open(medium);
        medium.disk().crashAtCall(NEVER);
        return;
      } catch (PowerLoss e) {
        revive(medium);
      }
    }
    open(medium);
  }

  @Override
  public @Nullable ShardStore drive(UUID id) {
    return trouble(id).isHidden ? null : drives.get(id);
  }

  @Override
  public SimulatedProcess.Fate fate() {
    if (random.nextBoolean()) {
      countCall();
    }
    if (isCalm || working == 0 || random.nextInt(25) > 0) {
      return SimulatedProcess.Fate.ANSWERED;
    }
    hadFaults = true;
    return any(List.of(SimulatedProcess.Fate.values()));
  }

  @Override
  public void committed() {
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
  public SteppedThreads threads() {
    return threads;
  }
}
