package dev.ashlar.metadata.memory;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.RemoveProfile;
import dev.ashlar.protocol.message.SetDefaultProfile;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;

/** Commands on profiles. */
public final class TestProfiles {
  private TestProfiles() {}

  /** Adds a profile with so many placement groups, over all drives in turn. */
  public static Command.Builder add(
      MetadataClient client, String name, Profile profile, int groups) {
    List<DriveRow> drives =
        client.drives().values().stream()
            .sorted((one, other) -> one.id().compareTo(other.id()))
            .map(DriveId::toMessage)
            .map(row -> row.toBuilder().clearIncarnation().build())
            .toList();
    int first = client.placement().slotDrives().size();
    AddedProfile.Builder added =
        AddedProfile.newBuilder().setName(name).setProfile(profile.toMessage());
    for (int pg = first; pg < first + groups; pg++) {
      PgRow.Builder row = PgRow.newBuilder().setPg(pg);
      for (int slot = 0; slot < profile.shards(); slot++) {
        row.addSlots(drives.get((pg + slot) % drives.size()));
      }
      added.addPgs(row);
    }
    return Command.newBuilder()
        .setAddProfile(
            AddProfile.newBuilder().setBaseEpoch(client.placement().epoch()).setProfile(added));
  }

  public static Command.Builder remove(MetadataClient client, int number) {
    return Command.newBuilder()
        .setRemoveProfile(
            RemoveProfile.newBuilder().setBaseEpoch(client.placement().epoch()).setNumber(number));
  }

  public static Command.Builder setDefault(MetadataClient client, int number) {
    return Command.newBuilder()
        .setSetDefaultProfile(
            SetDefaultProfile.newBuilder()
                .setBaseEpoch(client.placement().epoch())
                .setNumber(number));
  }
}
