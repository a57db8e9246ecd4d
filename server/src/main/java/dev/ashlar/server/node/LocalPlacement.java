package dev.ashlar.server.node;

import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.config.ServerOptions;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Tells metadata which drives this process has, of a store in one process, and makes the placement
 * map at the first start.
 */
final class LocalPlacement implements AwaitedDrives.Registration {
  private final MetadataClient metadata;
  private final LocalDrives drives;

  LocalPlacement(MetadataClient metadata, LocalDrives drives) {
    this.metadata = metadata;
    this.drives = drives;
  }

  /**
   * The profile that the store was made with, or is to be made with. Nothing is opened or formatted
   * before.
   *
   * @throws IOException when the options ask for another one, or for other drives
   */
  static Profile profile(MetadataClient metadata, ServerOptions options)
      throws IOException, MetadataUnavailableException {
    if (metadata.drives().isEmpty()) {
      return options.profile();
    }
    Profile present = metadata.placement().profiles().getFirst().profile();
    if (!options.allow(present)) {
      throw new IOException(
          "this data was made with --profile %s --stripe-unit %s"
              .formatted(present, present.stripeUnit()));
    }
    int known = metadata.drives().size();
    if (options.dataFolders().size() != known) {
      throw new IOException(
          "this data was made with %s drive folders, --data names %s"
              .formatted(known, options.dataFolders().size()));
    }
    return present;
  }

  /**
   * The profiles that data of the store can have.
   *
   * @param first that it is to be made with, if it is new
   */
  static List<Profile> profiles(MetadataClient metadata, Profile first) {
    return metadata.drives().isEmpty()
        ? List.of(first)
        : metadata.placement().present().stream().map(PlacedProfile::profile).toList();
  }

  /**
   * @throws IOException when a drive of a new store is missing
   */
  void install(Profile profile) throws IOException, MetadataUnavailableException {
    if (!metadata.drives().isEmpty()) {
      register(drives.rows());
      return;
    }
    if (drives.openCount() < drives.ids().size()) {
      throw new IOException(
          "the first start needs every drive; the log above names the missing one");
    }
    PutDrives.Builder command = PutDrives.newBuilder().addAllDrives(present(drives.rows()));
    command.setPgMap(Placement.first(command.getDrivesList(), profile, Placement.PG_COUNT_DEFAULT));
    submit(command);
  }

  /** Those of which nothing is found are absent, also where they begin another life by that. */
  @Override
  public void register(List<DriveRow> rows) throws IOException, MetadataUnavailableException {
    Map<UUID, DriveRow> known = AwaitedDrives.known(metadata);
    Map<UUID, DriveRow> changed = new LinkedHashMap<>(known);
    changed.replaceAll((id, row) -> row.toBuilder().setAbsent(true).build());
    present(rows).forEach(row -> changed.put(DriveId.idOf(row), row));
    changed.entrySet().removeIf(entry -> isKnown(known.get(entry.getKey()), entry.getValue()));
    PutDrives.Builder command = PutDrives.newBuilder().addAllDrives(changed.values());
    rows.stream().filter(DriveRow::getVacant).forEach(command::addVacant);
    if (command.getDrivesCount() > 0 || command.getVacantCount() > 0) {
      submit(command);
    }
  }

  private static List<DriveRow> present(List<DriveRow> rows) {
    return rows.stream()
        .filter(row -> !row.getVacant())
        .map(
            row ->
                row.toBuilder()
                    .clearCapacityBytes() // every slot is on every drive alike
                    .setFailureDomain(DriveId.idOf(row).toString())
                    .build())
        .toList();
  }

  private static boolean isKnown(@Nullable DriveRow known, DriveRow row) {
    return known != null
        && known.getIncarnation() == row.getIncarnation()
        && known.getAbsent() == row.getAbsent()
        && known.getFileSystem().equals(row.getFileSystem());
  }

  private void submit(PutDrives.Builder command) throws IOException, MetadataUnavailableException {
    CommandResult result = metadata.submit(Command.newBuilder().setPutDrives(command));
    if (result.getCode() != ResultCode.OK) {
      throw new IOException("metadata does not accept these drives: " + result.getCode());
    }
  }
}
