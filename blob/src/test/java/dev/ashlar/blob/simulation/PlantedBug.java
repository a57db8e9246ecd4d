package dev.ashlar.blob.simulation;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** Bugs that a simulation has to find; each is put between two parts that are right. */
enum PlantedBug {
  NONE(Simulation.NEITHER),
  /** A drive acknowledges before it syncs. */
  SKIPS_SYNCS(Simulation.BOTH),
  /** A gateway counts a slot as soon as its bytes are sent. */
  COUNTS_TOO_EARLY(Simulation.BOTH),
  /** Commits say of each slot that it holds its shard, also of those that never answered. */
  HIDES_DEBTS(Simulation.BOTH),
  /** An acknowledgement counts whatever life the drive was in. */
  IGNORES_INCARNATIONS(Simulation.CLUSTER),
  /** An acknowledgement counts whatever drive the slot belongs to by now. */
  IGNORES_EPOCHS(Simulation.CLUSTER),
  /** What living sessions have not committed yet is removed as if they had ended. */
  SWEEPS_ALL(Simulation.CLUSTER),
  /** What a drive does not have to fold counts as folded. */
  MISSING_IS_FOLDED(Simulation.ENGINE),
  /** Folding counts for every slot, whatever its drive answered. */
  FOLDS_UNHEARD(Simulation.ENGINE),
  /** Drives acknowledge folds and do nothing. */
  IGNORES_FOLDS(Simulation.BOTH),
  /** Drives acknowledge that they drop what was not committed, and do not. */
  IGNORES_DROPS(Simulation.CLUSTER),
  /** Drives acknowledge deletes and do nothing. */
  IGNORES_DELETES(Simulation.CLUSTER),
  /** Every eighth blob's writes are acknowledged and lost. */
  LOSES_WRITES(Simulation.BOTH),
  /** What a drive fails to write counts as written. */
  FAILED_WRITES_COUNT(Simulation.BOTH),
  /** What a drive refuses, because it is full or read-only, counts as written. */
  REFUSED_WRITES_COUNT(Simulation.BOTH),
  /** Commits of parts say of each slot that it holds its shard. */
  PARTS_HIDE_DEBTS(Simulation.BOTH),
  /** Uploads that are aborted keep their parts. */
  IGNORES_ABORTS(Simulation.BOTH),
  /** Parity, which is read for late and lost data, is read without the changes not folded. */
  READS_OLD_PARITY(Simulation.BOTH),
  /** Changes of parity are acknowledged and lost. */
  LOSES_DELTAS(Simulation.BOTH),
  /** Changes of data are acknowledged and lost. */
  LOSES_CHANGES(Simulation.BOTH),
  /** Shards are read without the changes that are not folded. */
  READS_WITHOUT_CHANGES(Simulation.BOTH),
  /** What is read is another byte in one place. */
  READS_OTHER_BYTES(Simulation.BOTH),
  /** What a replaced drive had is never owed, yet the drive counts as settled. */
  IGNORES_NOTES(Simulation.ENGINE),
  /** Shards that were found lost stay as they are. */
  IGNORES_LOSSES(Simulation.ENGINE);

  private enum Simulation {
    NEITHER,
    ENGINE,
    CLUSTER,
    BOTH
  }

  private final Simulation simulation;

  PlantedBug(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Those that the engine's simulation has to find. */
  static List<PlantedBug> ofEngine() {
    return of(Simulation.ENGINE);
  }

  /** Those that the cluster's simulation has to find. */
  static List<PlantedBug> ofCluster() {
    return of(Simulation.CLUSTER);
  }

  private static List<PlantedBug> of(Simulation one) {
    return Arrays.stream(values())
        .filter(bug -> bug.simulation == one || bug.simulation == Simulation.BOTH)
        .toList();
  }

  /** The drive as an engine with this bug sees it. */
  ShardStore in(ShardStore store) {
    return switch (this) {
      case COUNTS_TOO_EARLY,
          MISSING_IS_FOLDED,
          IGNORES_FOLDS,
          IGNORES_DROPS,
          IGNORES_DELETES,
          LOSES_WRITES,
          FAILED_WRITES_COUNT,
          REFUSED_WRITES_COUNT,
          READS_OLD_PARITY,
          LOSES_DELTAS,
          LOSES_CHANGES,
          READS_WITHOUT_CHANGES,
          READS_OTHER_BYTES ->
          new BuggyDrive(store, this);
      default -> store;
    };
  }

  private boolean isOfMetadata() {
    return switch (this) {
      case HIDES_DEBTS,
          PARTS_HIDE_DEBTS,
          IGNORES_ABORTS,
          IGNORES_INCARNATIONS,
          IGNORES_EPOCHS,
          FOLDS_UNHEARD,
          IGNORES_NOTES,
          IGNORES_LOSSES ->
          true;
      default -> false;
    };
  }

  /** Metadata as it would be with this bug. */
  MetadataClient in(MetadataClient metadata) {
    if (!isOfMetadata()) {
      return metadata;
    }
    return Ports.of(
        MetadataClient.class,
        (method, arguments) -> {
          if (method.getName().equals("submit")) {
            Command.Builder command = (Command.Builder) arguments[0];
            if (isIgnored(command)) {
              return CommandResult.newBuilder().setCode(ResultCode.OK).build();
            }
            falsify(command, metadata);
          }
          return method.invoke(metadata, arguments);
        });
  }

  private boolean isIgnored(Command.Builder command) {
    return (this == IGNORES_NOTES && command.hasRecordDebts())
        || (this == IGNORES_ABORTS && command.hasAbortUpload())
        || (this == IGNORES_LOSSES && command.hasRecordLostShards());
  }

  private void falsify(Command.Builder command, MetadataClient metadata)
      throws MetadataUnavailableException {
    if (this == FOLDS_UNHEARD) {
      if (command.hasFoldBlob()) {
        countForAll(command.getFoldBlobBuilder(), metadata);
      }
    } else if (this == PARTS_HIDE_DEBTS) {
      if (command.hasPutPart()) {
        command.getPutPartBuilder().getBlobsBuilderList().forEach(blob -> falsify(blob, metadata));
      }
    } else if (command.hasPutObject()) {
      command.getPutObjectBuilder().getBlobsBuilderList().forEach(blob -> falsify(blob, metadata));
    } else if (command.hasModifyObject()) {
      for (ObjectPiece.Builder piece : command.getModifyObjectBuilder().getPiecesBuilderList()) {
        if (piece.hasBlob()) {
          falsify(piece.getBlobBuilder(), metadata);
        } else if (this == IGNORES_INCARNATIONS) {
          BlobChange.Builder change = piece.getChangeBuilder();
          List<SlotAck> acks = presentLives(change.getAcksList(), metadata);
          change.clearAcks().addAllAcks(acks);
        }
      }
    }
  }

  private static void countForAll(FoldBlob.Builder fold, MetadataClient metadata)
      throws MetadataUnavailableException {
    for (BlobRow row : metadata.blobs(List.of(BlobId.of(fold.getBlob())))) {
      fold.clearAcks();
      for (AttemptRow attempt : row.getAttemptsList()) {
        for (int slot : attempt.getSlotsList()) {
          DriveId owner = metadata.drives().get(metadata.placement().location(row, slot));
          if (owner != null) {
            fold.addAcks(BlobRows.ack(slot, owner));
          }
        }
      }
    }
  }

  private void falsify(NewBlob.Builder blob, MetadataClient metadata) {
    List<SlotAck> acks =
        this == IGNORES_INCARNATIONS
            ? presentLives(blob.getAcksList(), metadata)
            : owners(blob, metadata);
    blob.clearAcks().addAllAcks(acks);
  }

  private static List<SlotAck> presentLives(List<SlotAck> acks, MetadataClient metadata) {
    List<SlotAck> present = new ArrayList<>();
    for (SlotAck ack : acks) {
      DriveId drive = metadata.drives().get(new UUID(ack.getDriveHigh(), ack.getDriveLow()));
      present.add(
          drive == null ? ack : ack.toBuilder().setIncarnation(drive.incarnation()).build());
    }
    return present;
  }

  /** Of all slots, or of those that somebody acknowledged. */
  private List<SlotAck> owners(NewBlob.Builder blob, MetadataClient metadata) {
    PlacementMap map = metadata.placement();
    List<SlotAck> acks = new ArrayList<>();
    for (int slot = 0; slot < map.standard().profile().shards(); slot++) {
      int index = slot;
      boolean isAcknowledged = blob.getAcksList().stream().anyMatch(ack -> ack.getSlot() == index);
      DriveId owner = metadata.drives().get(map.drive(blob.getPg(), slot));
      if (owner != null && (isAcknowledged || this == HIDES_DEBTS || this == PARTS_HIDE_DEBTS)) {
        acks.add(BlobRows.ack(slot, owner));
      }
    }
    return acks;
  }
}
