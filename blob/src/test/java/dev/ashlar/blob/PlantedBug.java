package dev.ashlar.blob;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Bugs that the simulation has to find; each is put between two parts that are right. */
enum PlantedBug {
  NONE,
  /** A drive acknowledges before it syncs. */
  SKIPS_SYNCS,
  /** A gateway counts a slot as soon as its bytes are sent. */
  COUNTS_TOO_EARLY,
  /** Commits say of each slot that it holds its shard, also of those that never answered. */
  HIDES_DEBTS,
  /** An acknowledgement counts whatever life the drive was in. */
  IGNORES_INCARNATIONS,
  /** An acknowledgement counts whatever drive the slot belongs to by now. */
  IGNORES_EPOCHS,
  /** What living sessions have not committed yet is removed as if they had ended. */
  SWEEPS_ALL;

  /** The drive as a gateway with this bug sees it. */
  ShardStore in(ShardStore store) {
    return this == COUNTS_TOO_EARLY ? new Unheard(store) : store;
  }

  /** A drive that counts before it has answered. */
  private static final class Unheard extends ForwardingShardStore {
    Unheard(ShardStore drive) {
      super(drive);
    }

    @Override
    public void write(ShardWrite write, Completion<DriveId> completion) {
      super.write(write, new Nobody());
      completion.succeeded(drive());
    }

    @Override
    public void prepare(ShardIntent intent, Completion<DriveId> completion) {
      super.prepare(intent, new Nobody());
      completion.succeeded(drive());
    }
  }

  /** Does not listen. */
  private static final class Nobody implements Completion<DriveId> {
    @Override
    public void succeeded(DriveId drive) {}

    @Override
    public void failed(ShardException failure) {}
  }

  /** Metadata as it would be with this bug. */
  MetadataClient in(MetadataClient metadata) {
    if (this != HIDES_DEBTS && this != IGNORES_INCARNATIONS && this != IGNORES_EPOCHS) {
      return metadata;
    }
    return Ports.of(
        MetadataClient.class,
        (method, arguments) -> {
          if (method.getName().equals("submit")) {
            falsify((Command.Builder) arguments[0], metadata);
          }
          return method.invoke(metadata, arguments);
        });
  }

  private void falsify(Command.Builder command, MetadataClient metadata) {
    if (command.hasPutObject()) {
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
    for (int slot = 0; slot < map.profile().shards(); slot++) {
      int index = slot;
      boolean isAcknowledged = blob.getAcksList().stream().anyMatch(ack -> ack.getSlot() == index);
      DriveId owner = metadata.drives().get(map.drive(blob.getPg(), slot));
      if (owner != null && (isAcknowledged || this == HIDES_DEBTS)) {
        acks.add(SlotWrites.ack(slot, owner));
      }
    }
    return acks;
  }
}
