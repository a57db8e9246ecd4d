package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;

/**
 * Blob rows and their reference counts, with one reference per slice. A blob that loses its last
 * reference can never get another, because references are taken only from existing objects and
 * parts.
 */
public final class Blobs {
  /** The longest blob; longer data continues in further blobs. */
  public static final long LENGTH_MAX = 1L << 30;

  private Blobs() {}

  /**
   * The rows of new blobs, not written yet. Refuses the command unless each blob is durable and
   * new.
   */
  public static List<BlobRow> admit(ApplyContext context, List<NewBlob> blobs) {
    List<BlobRow> rows = new ArrayList<>(blobs.size());
    Set<BlobIdValue> ids = new HashSet<>();
    for (NewBlob blob : blobs) {
      if (blob.getLength() == 0) {
        continue; // empty: no shard and no slice
      }
      PlacementMap map = context.placement();
      require(context.sessions().isLive(blob.getId().getSession()), ResultCode.DEAD_SESSION);
      BlobId id = BlobId.of(blob.getId());
      require(
          id.profile() >= map.profiles().size() || map.numbered(id.profile()).isPresent(),
          ResultCode.NO_SUCH_PROFILE);
      require(
          fits(blob, map)
              && ids.add(blob.getId())
              && context.table().get(Keys.blob(blob.getPg(), id)) == null,
          ResultCode.INVALID_COMMAND);
      rows.add(row(context, blob, map));
    }
    return rows;
  }

  private static boolean fits(NewBlob blob, PlacementMap map) {
    return blob.getLength() > 0
        && blob.getLength() <= LENGTH_MAX
        && map.group(BlobId.of(blob.getId())).equals(OptionalInt.of(blob.getPg()))
        && blob.getProfile().equals(map.profile(blob.getPg()).toMessage())
        && blob.getEpoch() <= map.epoch();
  }

  /** The row of a new blob. Every slot with bytes of the blob should have acknowledged them. */
  private static BlobRow row(ApplyContext context, NewBlob blob, PlacementMap map) {
    Profile profile = Profile.of(blob.getProfile());
    StripeLayout layout = new StripeLayout(profile, blob.getLength());
    List<Integer> written = layout.touchedSlots(new ByteRange(0, blob.getLength()));
    Map<Integer, UUID> earlier = earlierOwners(blob, map);
    boolean[] held =
        Acknowledgements.held(
            context,
            slot -> earlier.getOrDefault(slot, map.drive(blob.getPg(), slot)),
            profile,
            blob.getAcksList());
    List<Integer> debts = Acknowledgements.missing(held, written);
    Acknowledgements.requireDurable(profile, debts);
    BlobRow row =
        BlobRow.newBuilder()
            .setId(blob.getId())
            .setLength(blob.getLength())
            .setProfile(blob.getProfile())
            .setPg(blob.getPg())
            .setReferences(1)
            .setSettled(context.freshId())
            .build();
    return RelocatedShards.settled(context, row, row, debts, spread(blob, map, written, earlier));
  }

  /**
   * Adds locations for slots without bytes that were given to drives which other slots have left:
   * until those drives have given up their shards, the slots stay on the drives of the writer's
   * map.
   */
  private static Map<Integer, UUID> spread(
      NewBlob blob, PlacementMap map, List<Integer> written, Map<Integer, UUID> earlier) {
    if (earlier.isEmpty()) {
      return earlier;
    }
    int pg = blob.getPg();
    List<UUID> drives = new ArrayList<>(map.slots(pg));
    earlier.forEach(drives::set);
    Map<Integer, UUID> placed = new HashMap<>(earlier);
    for (int slot = 0; slot < drives.size(); slot++) {
      int empty = slot;
      if (!written.contains(slot) && earlier.containsValue(drives.get(slot))) {
        map.pastOf(pg).stream()
            .filter(past -> past.slot() == empty && !drives.contains(past.drive()))
            .findFirst()
            .ifPresent(
                past -> {
                  drives.set(empty, past.drive());
                  placed.put(empty, past.drive());
                });
      }
    }
    return placed;
  }

  /**
   * The drives on which the writer put shards according to its older map, for slots that have moved
   * since.
   */
  private static Map<Integer, UUID> earlierOwners(NewBlob blob, PlacementMap map) {
    Map<Integer, UUID> earlier = new HashMap<>();
    if (blob.getEpoch() < map.epoch()) {
      for (SlotAck ack : blob.getAcksList()) {
        UUID drive = Acknowledgements.driveOf(ack);
        int slot = ack.getSlot();
        boolean isSlot = slot >= 0 && slot < map.profile(blob.getPg()).shards();
        if (isSlot
            && !drive.equals(map.drive(blob.getPg(), slot))
            && map.wasAt(blob.getPg(), slot, drive)) {
          earlier.put(slot, drive);
        }
      }
    }
    return earlier;
  }

  /** Writes the rows of admitted blobs and returns the slices with their first references. */
  public static List<SliceValue> insert(ApplyContext context, List<BlobRow> rows) {
    List<SliceValue> slices = new ArrayList<>(rows.size());
    for (BlobRow row : rows) {
      context.table().put(key(context, row.getId()), row.toByteArray());
      Debts.update(context, null, row);
      slices.add(slice(row.getId(), row.getLength()));
    }
    return slices;
  }

  /** A slice of the whole blob. */
  public static SliceValue slice(BlobIdValue id, long length) {
    return SliceValue.newBuilder().setBlob(id).setLength(length).build();
  }

  /** Adds a reference for each slice. */
  public static void take(ApplyContext context, List<SliceValue> slices) {
    slices.forEach(slice -> refer(context, slice.getBlob(), 1));
  }

  /** Removes a reference for each slice; a blob without references becomes garbage. */
  public static void drop(ApplyContext context, List<SliceValue> slices) {
    slices.forEach(slice -> refer(context, slice.getBlob(), -1));
  }

  /** Replaces the references of the old slices by those of the new ones. */
  public static void exchange(
      ApplyContext context, List<SliceValue> before, List<SliceValue> after) {
    Map<BlobIdValue, Integer> difference = new HashMap<>();
    before.forEach(slice -> difference.merge(slice.getBlob(), -1, Integer::sum));
    after.forEach(slice -> difference.merge(slice.getBlob(), 1, Integer::sum));
    difference.values().removeIf(references -> references == 0);
    difference.forEach((blob, references) -> refer(context, blob, references));
  }

  private static void refer(ApplyContext context, BlobIdValue id, int difference) {
    BlobRow row = row(context, id);
    if (row.getReferences() == 0) {
      throw new IllegalStateException("a slice of an unreferenced blob " + id);
    }
    BlobRow.Builder changed = row.toBuilder().setReferences(row.getReferences() + difference);
    if (changed.getReferences() == 0) {
      changed.setUnreferencedAtMs(context.logTimeMs());
      context.table().put(Keys.garbage(context.logTimeMs(), BlobId.of(id)), new byte[0]);
    }
    write(context, row, changed.build());
  }

  /** The row of a blob that must exist because there is a reference to it. */
  static BlobRow row(ApplyContext context, BlobIdValue id) {
    return find(context, id).orElseThrow(() -> new IllegalStateException("no row of blob " + id));
  }

  public static Optional<BlobRow> find(ApplyContext context, BlobIdValue id) {
    return key(context, BlobId.of(id))
        .flatMap(key -> context.catalog().writtenBlobs().get(context.table(), key));
  }

  /** Writes a changed row and updates the tables of debts and of unfolded blobs. */
  public static void write(ApplyContext context, BlobRow before, BlobRow after) {
    byte[] key = key(context, after.getId());
    byte[] bytes = after.toByteArray();
    context.table().put(key, bytes);
    Debts.update(context, before, after);
    boolean isUnfolded = isUnfolded(after);
    if (isUnfolded) {
      context.catalog().writtenBlobs().put(key, bytes, after);
    }
    boolean wasUnfolded = isUnfolded(before);
    if (isUnfolded != wasUnfolded) {
      byte[] unfolded = Keys.unfolded(BlobId.of(after.getId()));
      if (wasUnfolded) {
        context.table().delete(unfolded);
      } else {
        context.table().put(unfolded, new byte[0]);
      }
    }
  }

  private static boolean isUnfolded(BlobRow row) {
    return row.getAttemptsCount() > 0 && row.getReferences() > 0;
  }

  /** The key of the blob's row; refuses the command if the store does not have its profile. */
  private static byte[] key(ApplyContext context, BlobIdValue id) {
    return key(context, BlobId.of(id))
        .orElseThrow(() -> new RefusedCommandException(ResultCode.INVALID_COMMAND));
  }

  /** The key of the blob's row; empty if the store does not have its profile. */
  static Optional<byte[]> key(ApplyContext context, BlobId id) {
    OptionalInt pg = context.placement().group(id);
    return pg.isEmpty() ? Optional.empty() : Optional.of(Keys.blob(pg.getAsInt(), id));
  }

  /** Removes the rows of garbage; skips blobs that are unknown (after a retry) or referenced. */
  public static CommandResult forget(ApplyContext context, ForgetBlobs command) {
    for (BlobIdValue id : command.getBlobsList()) {
      Optional<BlobRow> row = find(context, id);
      if (row.isPresent() && row.get().getReferences() == 0) {
        context.table().delete(key(context, id));
        Repairs.forgetNames(context, row.get());
        context.table().delete(Keys.garbage(row.get().getUnreferencedAtMs(), BlobId.of(id)));
      }
    }
    return ApplyContext.OK;
  }
}
