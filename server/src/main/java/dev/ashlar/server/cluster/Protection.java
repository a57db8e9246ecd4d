package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DebtLevels;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.List;

/**
 * Whether objects have all shards.
 *
 * @param known whether that is all: metadata answers, and what changed drives had was looked for
 * @param debtBlobs that lack shards, or have some on drives that were taken out
 * @param debtBytes of these shards
 * @param movingBlobs that have all shards, some of which are to be on other drives
 * @param movingBytes of these shards
 * @param levels by how many more shards blobs may lose, the most endangered first
 */
public record Protection(
    boolean known,
    long debtBlobs,
    long debtBytes,
    long movingBlobs,
    long movingBytes,
    List<Level> levels) {
  public static final Protection UNKNOWN = new Protection(false, 0, 0, 0, 0, List.of());

  public Protection {
    levels = List.copyOf(levels);
  }

  /**
   * Blobs that may lose so many more shards.
   *
   * @param spare below 0 they cannot be read
   */
  public record Level(int spare, long blobs, long bytes) {}

  public static Protection of(MetadataClient metadata) throws MetadataUnavailableException {
    return of(metadata.registry(), metadata.debts(), metadata.placement());
  }

  /** The same for who is to be told something also where metadata does not answer. */
  public static Protection ifKnown(MetadataClient metadata) {
    try {
      return of(metadata);
    } catch (MetadataUnavailableException e) {
      return UNKNOWN;
    }
  }

  public static Protection of(Registry registry, List<DebtLevel> levels, PlacementMap map) {
    List<DebtLevel> inDebt = DebtLevels.inDebt(levels, map);
    List<DebtLevel> moving = DebtLevels.moving(levels, map);
    return new Protection(
        registry.getDrivesList().stream().noneMatch(KnownDrives::isUncounted),
        inDebt.stream().mapToLong(DebtLevel::getBlobs).sum(),
        inDebt.stream().mapToLong(DebtLevel::getBytes).sum(),
        moving.stream().mapToLong(DebtLevel::getBlobs).sum(),
        moving.stream().mapToLong(DebtLevel::getBytes).sum(),
        inDebt.stream()
            .map(level -> new Level(level.getSpare(), level.getBlobs(), level.getBytes()))
            .toList());
  }

  /**
   * Whether it is known that no blob lacks shards. Not a getter, so that JSON does not contain it.
   */
  public boolean holdsAllShards() {
    return known && debtBlobs == 0;
  }
}
