package dev.ashlar.blob.simulation;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The only drive of a simulation that may lose what it holds, or its slots to a spare one, which
 * nothing fills. The blobs that were there by then may lack their shards; what comes later may not.
 */
final class WeakDrive implements RestCheck.Losses {
  private final SimulatedNode node;
  private final UUID id;
  private final UUID spare;
  private final MemoryMetadata metadata;
  private final Set<BlobId> touched = new HashSet<>();
  private boolean hasLost;

  WeakDrive(SimulatedNode node, UUID spare, MemoryMetadata metadata) {
    this.node = node;
    this.id = node.id();
    this.spare = spare;
    this.metadata = metadata;
  }

  static DriveRow row(DriveId drive) {
    return DriveRow.newBuilder()
        .setDriveHigh(drive.id().getMostSignificantBits())
        .setDriveLow(drive.id().getLeastSignificantBits())
        .setIncarnation(drive.incarnation())
        .build();
  }

  /** It comes back empty, in another life, which metadata knows before anybody reaches it. */
  void loseAll() {
    node.end();
    node.wipe();
    metadata.require(
        Command.newBuilder()
            .setPutDrives(PutDrives.newBuilder().addDrives(row(node.store().drive()))));
    node.start();
    lost();
  }

  /** The spare one gets its slots, in a new epoch of the map. */
  void loseSlots() {
    PlacementMap map = metadata.placement();
    List<List<UUID>> slots = new ArrayList<>();
    for (List<UUID> pg : map.slotDrives()) {
      boolean isOfSpare = pg.contains(spare);
      slots.add(pg.stream().map(each -> each.equals(id) && !isOfSpare ? spare : each).toList());
    }
    if (slots.equals(map.slotDrives())) {
      return;
    }
    PlacementMap next =
        new PlacementMap(map.epoch() + 1, map.profiles(), map.standardNumber(), slots, Map.of());
    metadata.require(
        Command.newBuilder().setPutDrives(PutDrives.newBuilder().setPgMap(next.toMessage())));
  }

  private void lost() {
    hasLost = true;
    metadata
        .table()
        .rows()
        .subMap(Keys.table('P'), Keys.behind(Keys.table('P')))
        .values()
        .forEach(row -> touched.add(blob(row)));
  }

  private static BlobId blob(byte[] row) {
    try {
      return BlobId.of(BlobRow.parseFrom(row).getId());
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public @Nullable UUID drive() {
    return hasLost ? id : null;
  }

  @Override
  public boolean mayLack(BlobId blob) {
    return touched.contains(blob);
  }
}
