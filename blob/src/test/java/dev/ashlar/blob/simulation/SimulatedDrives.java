package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.SteppedDrive;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.Calls;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The drives of a simulated process and what befalls them: they end, fail, hide, forget, come back,
 * also without what they had, never so many at a time that more were lost than parity can bear.
 */
final class SimulatedDrives {
  static final long NEVER = Long.MAX_VALUE;

  private final Random random;
  private final Profile profile;
  private final List<SteppedDrive.Medium> media = new ArrayList<>();

  /** Those that run, and may be hidden. */
  private final Map<UUID, SteppedDrive> drives = new LinkedHashMap<>();

  /** As each was opened last. */
  private final Map<UUID, SteppedDrive> opened = new HashMap<>();

  private final Map<UUID, Trouble> troubles = new HashMap<>();
  private @Nullable UUID failed;

  /** Those that failed at once, and begin other lives at once. */
  private final Set<UUID> failedTogether = new HashSet<>();

  /** One that was replaced, until all that it had is there again. */
  private @Nullable UUID replaced;

  /** One on which bits have flipped: nobody knows which, and what a restart makes of them. */
  private @Nullable UUID rotten;

  /** Whether that was its medium: flipped bits or a lost write. */
  private boolean isMediumDamaged;

  private boolean mayHaveLost;

  /** Why a drive is not to be counted on. */
  private static final class Trouble {
    /** Calls that it has left; {@link #NEVER}: it does not die. */
    long dies = NEVER;

    boolean isHidden;
    boolean isGone;

    /** Its files cannot be made or renamed, for a while or until it starts again. */
    boolean isStuck;
  }

  /**
   * What a step of a drive was.
   *
   * @param calls of its files
   * @param hasPower false if it ended at the last of them
   */
  record Step(long calls, boolean hasPower) {}

  /**
   * @param skipSyncs a planted bug: what is synced is not durable
   */
  SimulatedDrives(Random random, Profile profile, List<UUID> ids, boolean skipSyncs)
      throws IOException {
    this.random = random;
    this.profile = profile;
    for (UUID id : ids) {
      SteppedDrive.Medium medium = new SteppedDrive.Medium(id, random);
      media.add(medium);
      medium.disk().skipSyncs(skipSyncs);
      open(medium);
    }
  }

  /** Those that run. */
  List<SteppedDrive> running() {
    return List.copyOf(drives.values());
  }

  Map<UUID, SteppedDrive> byId() {
    return Collections.unmodifiableMap(drives);
  }

  @Nullable ShardStore find(UUID id) {
    return trouble(id).isHidden ? null : drives.get(id);
  }

  SteppedDrive any() {
    return any(running());
  }

  /**
   * The next write or sync of every drive fails, so that all begin another life at the next start,
   * from which what they had synced is there: no acknowledged byte is lost. Nothing else may have
   * been lost before.
   */
  void failTogether() {
    if (hasAll()) {
      mayHaveLost = true;
      for (SteppedDrive drive : running()) {
        failedTogether.add(drive.medium().id());
        drive.medium().disk().failAtCall(1 + random.nextInt(4));
      }
    }
  }

  /** Whether any may have lost what metadata does not know of. */
  boolean mayHaveLost() {
    return mayHaveLost;
  }

  /** Those that may have lost something that metadata does not know of, until they are scrubbed. */
  Set<UUID> damaged() {
    return rotten == null ? Set.of() : Set.of(rotten);
  }

  /** Those of them that may have lost any record of their log, also that of a fold or a delete. */
  Set<UUID> damagedMedia() {
    return isMediumDamaged ? damaged() : Set.of();
  }

  Set<UUID> failedTogether() {
    return Collections.unmodifiableSet(failedTogether);
  }

  /** All that was lost is there again. */
  void repaired() {
    replaced = null;
  }

  void forgetTroubles() {
    troubles.clear();
  }

  void hideOnly(@Nullable UUID hidden) {
    drives.keySet().forEach(id -> trouble(id).isHidden = id.equals(hidden));
  }

  /**
   * The drive does this, and may end by a trouble of its own.
   *
   * @param callsLeft of its files, after which the power of the process is away
   */
  Step step(SteppedDrive drive, Runnable work, long callsLeft) {
    Trouble trouble = trouble(drive.medium().id());
    SimulatedDrive disk = drive.medium().disk();
    disk.crashAtCall(Math.min(callsLeft, trouble.dies));
    long before = disk.calls();
    boolean hasPower = true;
    try {
      work.run();
    } catch (PowerLoss e) {
      hasPower = false;
    }
    long calls = disk.calls() - before;
    trouble.dies -= trouble.dies == NEVER ? 0 : calls;
    if (!hasPower && calls < callsLeft) {
      end(drive);
    }
    return new Step(calls, hasPower);
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

  /**
   * Something happens to a drive, or is over.
   *
   * @param metadata is told of a drive's new life
   */
  void trouble(MemoryMetadata metadata) throws IOException {
    SteppedDrive drive = any();
    Trouble trouble = trouble(drive.medium().id());
    boolean mayFail = troubled() < profile.parityShards() && !isTroubled(drive.medium().id());
    switch (random.nextInt(21)) {
      case 0, 1 -> {
        if (mayFail) {
          trouble.dies = 1L + random.nextInt(12);
        }
      }
      case 2 -> {
        if (mayFail && hasAll()) {
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
        if (mayFail && hasAll()) {
          mayHaveLost = true;
          rotten = drive.medium().id();
          isMediumDamaged = true;
          for (int i = 1 + random.nextInt(3); i > 0; i--) {
            drive.rot();
          }
        }
      }
      case 10 -> {
        if (mayFail && hasAll()) {
          mayHaveLost = true;
          rotten = drive.medium().id();
          drive.loseAttempts(1 + random.nextInt(3));
        }
      }
      case 11 -> {
        if (mayFail) {
          end(drive);
          comeBack(drive.medium(), metadata);
        }
      }
      case 16 -> {
        if (mayFail) {
          trouble.isStuck = true;
          drive.medium().disk().fail(Calls.NAMES, 1, 1 + random.nextInt(20));
        }
      }
      case 17 -> {
        if (mayFail && hasAll()) {
          mayHaveLost = true;
          failed = drive.medium().id();
          int first = 1 + random.nextInt(8);
          drive.medium().disk().fail(Calls.DATA, first, errors(random.nextInt(8)));
        }
      }
      case 18 -> {
        if (mayFail && hasAll()) {
          mayHaveLost = true;
          rotten = drive.medium().id();
          isMediumDamaged = true;
          drive.medium().disk().strayUnlessLastAtWrite(1 + random.nextInt(8));
        }
      }
      case 13, 14 -> drive.loseRequestsAfterIntent(2 + random.nextInt(3));
      case 12 -> drive.loseRequests(1 + random.nextInt(4));
      case 4 -> drive.loseAnswers(1 + random.nextInt(2));
      case 5 -> drive.refuseRequests(1 + random.nextInt(3));
      default -> comeBack(any(media), metadata);
    }
  }

  /** A few, or all until the drive starts again. */
  private static int errors(int dice) {
    return dice < 7 ? 1 + dice : Integer.MAX_VALUE;
  }

  /** A write may have left one shard of a blob owed: only one drive may have lost another. */
  private boolean hasAll() {
    return failed == null && replaced == null && rotten == null && failedTogether.isEmpty();
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
        || trouble.isStuck
        || id.equals(failed)
        || id.equals(replaced)
        || id.equals(rotten);
  }

  private void comeBack(SteppedDrive.Medium medium, MemoryMetadata metadata) throws IOException {
    Trouble trouble = trouble(medium.id());
    trouble.isHidden = false;
    if (trouble.isGone) {
      trouble.isGone = false;
      trouble.isStuck = false;
      revive(medium);
      maybeReplace(medium);
      open(medium);
      register(metadata);
    }
  }

  /**
   * Only one at a time, and where it may be one more that blobs lose than what a write may have
   * left owed.
   */
  private void maybeReplace(SteppedDrive.Medium medium) {
    if (profile.parityShards() > 0
        && failed == null
        && failedTogether.isEmpty()
        && replaced == null
        && (rotten == null || rotten.equals(medium.id()))
        && random.nextInt(3) == 0) {
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
    UUID id = medium.id();
    SteppedDrive drive =
        SteppedDrive.open(
            medium, new SteppedDrive.Parts(SimulatedProcess.POOL, SimulatedProcess.CODES::of));
    SteppedDrive before = opened.put(id, drive);
    boolean mayBegin =
        before == null || before.hasFailed() || id.equals(replaced) || id.equals(rotten);
    assertTrue(
        mayBegin || drive.drive().equals(before.drive()),
        "a new incarnation of what had not failed");
    drives.put(id, drive);
  }

  void die() {
    drives.values().forEach(SteppedDrive::die);
  }

  /**
   * They start with a new process.
   *
   * @param withAll also those that were gone
   * @param isPowerLost whether the power was away, else only the process
   */
  void restart(boolean withAll, boolean isPowerLost) throws IOException {
    drives.clear();
    for (SteppedDrive.Medium medium : media) {
      if (isPowerLost) {
        medium.afterPowerLoss();
      } else {
        medium.afterKill();
      }
      Trouble trouble = trouble(medium.id());
      trouble.isHidden = false;
      trouble.isStuck = false;
      trouble.dies = NEVER;
      if (withAll || !trouble.isGone) {
        trouble.isGone = false;
        if (random.nextInt(8) == 0) {
          maybeReplace(medium);
        }
        start(medium);
      }
    }
  }

  /** Perhaps dying as it starts. */
  private void start(SteppedDrive.Medium medium) throws IOException {
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

  /** Tells of lives that metadata does not know. */
  void register(MemoryMetadata metadata) {
    register(metadata, drives.values());
  }

  static void register(MemoryMetadata metadata, Collection<SteppedDrive> drives) {
    PutDrives.Builder put = PutDrives.newBuilder();
    Map<UUID, DriveId> registered = metadata.drives();
    for (SteppedDrive drive : drives) {
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
}
