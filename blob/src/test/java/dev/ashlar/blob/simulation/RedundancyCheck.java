package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.engine.ReadBytes;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.SteppedDrive;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What must hold when all drives are there and nothing has been repaired, folded or scrubbed yet:
 * every object reads as in the model, with each drive away too where its blobs can spare one, and
 * every shard is on its drive as its blob's row says, unless metadata knows that it is owed. What a
 * scrub would find is lost redundancy that nobody knows of; it may only be on the drive whose bits
 * have flipped.
 */
final class RedundancyCheck {
  private final SimulatedProcess process;
  private final BytesModel model;
  private final Map<UUID, SteppedDrive> drives;
  private final Set<UUID> damaged;
  private final Set<UUID> damagedMedia;
  private final Set<UUID> failedTogether;
  private final Consumer<@Nullable UUID> hideOnly;
  private final Map<UUID, Long> replacedAt = new HashMap<>();
  private final Map<BlobId, byte[]> contents = new TreeMap<>();

  /**
   * @param damaged drives that may have lost anything, which nobody knows yet
   * @param damagedMedia those of them that may have lost the record of a fold
   * @param failedTogether drives that failed at once, of which metadata knows that all may be owed
   * @param hideOnly makes this drive unreachable, and all others reachable
   */
  RedundancyCheck(
      SimulatedProcess process,
      BytesModel model,
      Map<UUID, SteppedDrive> drives,
      Set<UUID> damaged,
      Set<UUID> damagedMedia,
      Set<UUID> failedTogether,
      Consumer<@Nullable UUID> hideOnly) {
    this.process = process;
    this.model = model;
    this.drives = drives;
    this.damaged = damaged;
    this.damagedMedia = damagedMedia;
    this.failedTogether = failedTogether;
    this.hideOnly = hideOnly;
  }

  void run() throws Exception {
    for (DriveRow row : process.client.registry().getDrivesList()) {
      replacedAt.put(DriveId.idOf(row), row.getReplacedAt());
    }
    for (String key : model.keys()) {
      byte[] expected = expected(key);
      ObjectRead object = object(key);
      checkContent(object, expected, key + " as it was found");
      checkShards(object, expected, key);
    }
    for (UUID away : drives.keySet()) {
      hideOnly.accept(away);
      for (String key : model.keys()) {
        ObjectRead object = object(key);
        if (isSpare(object, away)) {
          checkContent(object, expected(key), key + " as it was found, without " + away);
        }
      }
    }
    hideOnly.accept(null);
  }

  private byte[] expected(String key) {
    return requireNonNull(model.state(key).bytes());
  }

  private ObjectRead object(String key) throws MetadataUnavailableException {
    return process.client.object(SimulatedClient.BUCKET, key).orElseThrow();
  }

  private void checkContent(ObjectRead object, byte[] expected, String what) throws Exception {
    assertEquals(expected.length, object.object().getSummary().getSize(), what);
    ReadBytes read = new ReadBytes();
    try {
      process.store.read(object, new ByteRange(0, expected.length), read);
    } catch (DataUnavailableException e) {
      throw new AssertionError(what, e);
    }
    assertArrayEquals(expected, read.bytes(), what);
  }

  private void checkShards(ObjectRead object, byte[] expected, String key) throws Exception {
    int at = 0;
    for (SliceValue slice : object.object().getSlicesList()) {
      BlobId id = BlobId.of(slice.getBlob());
      byte[] blob = contents.get(id);
      if (blob == null) {
        BlobRow row = process.client.blobs(List.of(id)).getFirst();
        StoredShards stored = stored(row);
        if (!stored.isEnough() && haveFailedTogether(row)) {
          return; // too many are owed: that the engine reads the object has been checked
        }
        blob = stored.data();
        contents.put(id, blob);
      }
      int from = (int) slice.getOffset();
      int length = (int) slice.getLength();
      assertArrayEquals(
          Arrays.copyOfRange(expected, at, at + length),
          Arrays.copyOfRange(blob, from, from + length),
          key + " on the drives");
      at += length;
    }
  }

  /**
   * Whether more shards than parity can bear may be owed because drives failed at once. They and
   * those that missed a change may be all that the blob has. What is owed elsewhere must never be
   * too much by itself.
   */
  private boolean haveFailedTogether(BlobRow row) {
    long owedElsewhere =
        lost(row).stream()
            .filter(slot -> BlobRows.layout(row).shardLength(slot) > 0)
            .filter(slot -> !failedTogether.contains(drive(row, slot)))
            .count();
    return !failedTogether.isEmpty() && owedElsewhere <= row.getProfile().getParityShards();
  }

  /**
   * Reads every shard. Of one that is owed its drive may have the first pieces of an unfolded
   * change only, and is not asked; else it gives what is right or nothing.
   */
  private StoredShards stored(BlobRow row) throws Exception {
    StoredShards stored = new StoredShards(row);
    Set<Integer> lost = lost(row);
    for (int slot = 0; slot < profileShards(row); slot++) {
      checkFolded(row, slot);
      if (!isOwed(row, slot) || !BlobRows.isTouched(row, slot)) {
        try {
          stored.read(slot, requireNonNull(drives.get(drive(row, slot))));
        } catch (ShardException e) {
          checkExcuse(row, slot, lost, e);
        }
      }
    }
    return stored;
  }

  /**
   * A drive may have lost changes, but has folded what its row says, unless its medium lost that.
   */
  private void checkFolded(BlobRow row, int slot) {
    Long folded =
        requireNonNull(drives.get(drive(row, slot))).foldedRevision(ShardId.of(row, slot));
    assertTrue(
        row.getDebtSlotsList().contains(slot)
            || damagedMedia.contains(drive(row, slot))
            || folded == null
            || folded >= BlobRows.folded(row, slot),
        () -> "slot " + slot + " counts as folded and has only " + folded + ": " + row);
  }

  private static void checkExcuse(BlobRow row, int slot, Set<Integer> lost, ShardException e) {
    boolean isLoss =
        e.fault() == ShardFault.MISSING
            || e.fault() == ShardFault.CORRUPT
            || e.fault() == ShardFault.REVISION_GONE;
    if (!isLoss || !lost.contains(slot)) {
      throw new AssertionError("slot " + slot + " is lost, which nobody knows, of " + row, e);
    }
  }

  private static int profileShards(BlobRow row) {
    return BlobRows.layout(row).profile().shards();
  }

  private UUID drive(BlobRow row, int slot) {
    return process.client.placement().location(row, slot);
  }

  /** The slots that need not be there: those known to be owed, and those of damaged drives. */
  private Set<Integer> lost(BlobRow row) {
    Set<Integer> lost = new HashSet<>();
    for (int slot = 0; slot < profileShards(row); slot++) {
      if (isOwed(row, slot) || damaged.contains(drive(row, slot))) {
        lost.add(slot);
      }
    }
    return lost;
  }

  private boolean isOwed(BlobRow row, int slot) {
    return row.getDebtSlotsList().contains(slot)
        || replacedAt.getOrDefault(drive(row, slot), 0L) > row.getSettled()
        || BlobRows.layout(row).shardLength(slot) == 0;
  }

  /** Whether all can be read without this drive. */
  private boolean isSpare(ObjectRead object, UUID away) throws MetadataUnavailableException {
    for (SliceValue slice : object.object().getSlicesList()) {
      BlobRow row = process.client.blobs(List.of(BlobId.of(slice.getBlob()))).getFirst();
      if (!isSpare(row, away)) {
        return false;
      }
    }
    return true;
  }

  private boolean isSpare(BlobRow row, UUID away) {
    Set<Integer> lost = lost(row);
    lost.removeIf(slot -> BlobRows.layout(row).shardLength(slot) == 0);
    int parity = BlobRows.layout(row).profile().parityShards();
    for (int slot = 0; slot < profileShards(row); slot++) {
      if (drive(row, slot).equals(away)) {
        lost.add(slot);
      }
    }
    return lost.size() <= parity;
  }
}
