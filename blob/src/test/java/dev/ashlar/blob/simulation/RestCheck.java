package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.engine.ReadBytes;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What must hold when nothing is under way, all drives are there, and all is tidied up: every
 * object reads as in the model, also with a drive away; all of every stripe's shards are on their
 * drives, agree with each other and with the model; and the drives hold nothing else but what
 * {@link #isNamesake} says.
 */
final class RestCheck<D extends ShardStore> {
  private final SimulatedProcess process;
  private final BytesModel model;
  private final Profile profile;
  private final Map<UUID, D> drives;
  private final Function<D, Set<ShardId>> shards;
  private final Losses losses;
  private final Consumer<@Nullable UUID> hideOnly;
  private final Map<BlobId, BlobRow> blobs = new TreeMap<>();
  private final Map<BlobId, byte[]> contents = new TreeMap<>();

  /** What a drive lost that nobody has noted. */
  interface Losses {
    Losses NONE =
        new Losses() {
          @Override
          public @Nullable UUID drive() {
            return null;
          }

          @Override
          public boolean mayLack(BlobId blob) {
            return false;
          }
        };

    /** The drive; null: there was no such loss. */
    @Nullable UUID drive();

    /** Whether it may lack what it should have of this blob. */
    boolean mayLack(BlobId blob);

    /** Whether it may have lost the record of a delete: what was deleted is then there again. */
    default boolean mayKeepDeleted(UUID drive) {
      return false;
    }
  }

  /**
   * @param shards all of which anything is on the drive
   * @param hideOnly makes this drive unreachable, and all others reachable
   */
  RestCheck(
      SimulatedProcess process,
      BytesModel model,
      Profile profile,
      Map<UUID, D> drives,
      Function<D, Set<ShardId>> shards,
      Losses losses,
      Consumer<@Nullable UUID> hideOnly) {
    this.process = process;
    this.model = model;
    this.profile = profile;
    this.drives = drives;
    this.shards = shards;
    this.losses = losses;
    this.hideOnly = hideOnly;
  }

  void run() throws Exception {
    for (BlobRow row : process.client.unfolded(null, 1000)) {
      // Where a drive lost its intents, and others owe theirs, folding waits for repair.
      assertTrue(mayLack(row), () -> "unfolded at rest: " + row);
    }
    assertEquals(List.of(), process.client.debts());
    for (String key : SimulatedClient.keys()) {
      checkObject(key);
    }
    checkDrives();
    if (losses.drive() == null && profile.parityShards() > 0) {
      for (UUID away : drives.keySet()) {
        hideOnly.accept(away);
        for (String key : model.keys()) {
          checkContent(object(key), model.state(key).bytes(), key + " without " + away);
        }
      }
      hideOnly.accept(null);
    }
  }

  private ObjectRead object(String key) throws Exception {
    return process.client.object(SimulatedClient.BUCKET, key).orElseThrow();
  }

  private void checkObject(String key) throws Exception {
    byte[] expected = model.state(key).bytes();
    assertEquals(
        expected != null, process.client.object(SimulatedClient.BUCKET, key).isPresent(), key);
    if (expected != null) {
      ObjectRead object = object(key);
      checkContent(object, expected, key);
      checkSlices(object, expected, key);
    }
  }

  private void checkContent(ObjectRead object, byte @Nullable [] expected, String what)
      throws Exception {
    if (expected == null) {
      throw new AssertionError(what);
    }
    assertEquals(expected.length, object.object().getSummary().getSize(), what);
    ReadBytes read = new ReadBytes();
    process.store.read(object, new ByteRange(0, expected.length), read);
    assertArrayEquals(expected, read.bytes(), what);
  }

  /** What lies on the drives, without what the engine makes of it. */
  private void checkSlices(ObjectRead object, byte[] expected, String key) throws Exception {
    int at = 0;
    for (SliceValue slice : object.object().getSlicesList()) {
      BlobId id = BlobId.of(slice.getBlob());
      byte[] blob = contents.get(id);
      if (blob == null) {
        BlobRow row = process.client.blobs(List.of(id)).getFirst();
        IntStream.range(0, shards(row)).forEach(slot -> blobs.put(ShardId.name(row, slot), row));
        blob = checkParity(row);
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
    assertEquals(expected.length, at);
  }

  private static int shards(BlobRow row) {
    return BlobRows.layout(row).profile().shards();
  }

  /** Decodes all shards from k of them, compares with the others, returns the data. */
  private byte[] checkParity(BlobRow row) throws Exception {
    StoredShards stored = new StoredShards(row);
    for (int slot = 0; slot < shards(row); slot++) {
      if (!row.getDebtSlotsList().contains(slot)) {
        read(stored, row, slot);
      }
    }
    int least = shards(row) - (mayLack(row) ? 1 : 0);
    List<Integer> present = stored.present();
    assertTrue(present.size() >= least, () -> "shards " + present + " are left of " + row);
    return stored.data();
  }

  /** As it lies on its drive, unless it was lost with a failure. */
  private void read(StoredShards stored, BlobRow row, int slot) throws Exception {
    D drive = requireNonNull(drives.get(process.client.placement().location(row, slot)));
    try {
      stored.read(slot, drive);
    } catch (ShardException e) {
      boolean isLost = e.fault() == ShardFault.MISSING || e.fault() == ShardFault.CORRUPT;
      boolean isExcused = mayLack(row) && drive.drive().id().equals(losses.drive());
      if (!isLost || !isExcused) {
        throw new AssertionError("slot " + slot + " of " + row, e);
      }
    }
  }

  /** Nothing is there that metadata does not name, but for what goes with its blob. */
  private void checkDrives() throws Exception {
    for (D drive : drives.values()) {
      for (ShardId shard : shards.apply(drive)) {
        BlobRow row = blobs.get(shard.blob());
        boolean isKnown = row != null && (isAt(row, drive, shard) || isNamesake(row, drive, shard));
        if (!isKnown && !losses.mayKeepDeleted(drive.drive().id())) {
          throw new AssertionError(misplaced(drive, shard, row));
        }
      }
      drive.forEachAttemptBelow(
          -1,
          (blob, attempt) ->
              assertTrue(
                  isUnfolded(blob, attempt),
                  () -> attempt + " of " + blob + " is left on " + drive.drive()));
    }
  }

  private boolean isAt(BlobRow row, D drive, ShardId shard) {
    return ShardId.of(row, shard.slot()).equals(shard)
        && process.client.placement().location(row, shard.slot()).equals(drive.drive().id());
  }

  /**
   * Whether it has a name that its drive needs for another shard of the blob, while its own slot
   * has another name. That comes of a write whose answer was late, so that the slot was owed, on a
   * drive that got another slot, which had no bytes yet, before the shard was made anew. Drives
   * delete by name.
   */
  private boolean isNamesake(BlobRow row, D drive, ShardId shard) {
    StripeLayout layout = BlobRows.layout(row);
    return !ShardId.of(row, shard.slot()).equals(shard)
        && IntStream.range(0, shards(row))
            .filter(slot -> layout.shardLength(slot) > 0)
            .anyMatch(slot -> isAt(row, drive, new ShardId(shard.blob(), slot)));
  }

  private String misplaced(D drive, ShardId shard, @Nullable BlobRow row) {
    String place =
        row == null
            ? "is no object's"
            : "belongs on "
                + process.client.placement().location(row, shard.slot())
                + " as "
                + ShardId.of(row, shard.slot());
    return shard + " is on " + drive.drive() + " and " + place + ": " + row;
  }

  private boolean isUnfolded(BlobId name, AttemptId attempt) {
    BlobRow row = blobs.get(name);
    return row != null
        && row.getAttemptsList().stream()
            .anyMatch(each -> AttemptId.of(each.getId()).equals(attempt));
  }

  private boolean mayLack(BlobRow row) {
    return losses.mayLack(BlobId.of(row.getId()))
        && process.client.placement().slotDrives().get(row.getPg()).contains(losses.drive());
  }
}
