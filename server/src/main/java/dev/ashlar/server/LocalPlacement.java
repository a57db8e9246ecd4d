package dev.ashlar.server;

import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Tells metadata which drives this process has, and makes the placement map at the first start. */
final class LocalPlacement {
  private LocalPlacement() {}

  /**
   * @throws IOException when the drives or the profile are not those the data was made with
   */
  static void install(MetadataClient metadata, LocalDrives drives, Profile profile)
      throws IOException, MetadataUnavailableException {
    Map<UUID, DriveId> registered = metadata.drives();
    boolean first = registered.isEmpty();
    if (!first) {
      check(metadata, drives, profile);
    }
    PutDrives.Builder command = PutDrives.newBuilder();
    for (UUID id : drives.ids()) {
      ShardStore store = drives.store(id);
      if (store == null && first) {
        throw new IOException(
            "the first start needs every drive; the log above names the missing one");
      }
      checkNotReplaced(store, registered.get(id));
      if (store != null && !store.drive().equals(registered.get(id))) {
        command.addDrives(row(store.drive()));
      }
    }
    if (first) {
      command.setPgMap(
          Placement.first(command.getDrivesList(), profile, Placement.PG_COUNT_DEFAULT));
    }
    if (command.getDrivesCount() > 0) {
      CommandResult result = metadata.submit(Command.newBuilder().setPutDrives(command));
      if (result.getCode() != ResultCode.OK) {
        throw new IOException("metadata does not accept these drives: " + result.getCode());
      }
    }
  }

  private static void checkNotReplaced(@Nullable ShardStore store, @Nullable DriveId registered)
      throws IOException {
    if (store != null
        && registered != null
        && store.drive().incarnation() < registered.incarnation()) {
      throw new IOException(
          "drive "
              + store.drive()
              + " has come back, but was replaced meanwhile by "
              + registered
              + ": put the folder of that one in its place, or an empty file system");
    }
  }

  private static void check(MetadataClient metadata, LocalDrives drives, Profile profile)
      throws IOException {
    Profile present = metadata.placement().profile();
    if (!present.equals(profile)) {
      throw new IOException(
          "this data was made with --profile "
              + present
              + " --stripe-unit "
              + present.stripeUnit());
    }
    int known = metadata.drives().size();
    if (drives.ids().size() != known) {
      throw new IOException(
          "this data was made with "
              + known
              + " drive folders, --data names "
              + drives.ids().size());
    }
  }

  private static DriveRow row(DriveId drive) {
    return DriveRow.newBuilder()
        .setDriveHigh(drive.id().getMostSignificantBits())
        .setDriveLow(drive.id().getLeastSignificantBits())
        .setIncarnation(drive.incarnation())
        .setFailureDomain(drive.id().toString())
        .build();
  }
}
