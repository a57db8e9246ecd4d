package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.DriveRow;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What metadata tells of the store at one time, and what follows from it.
 *
 * @param down drives that are not there
 * @param levels debts by remaining redundancy
 */
public record StoreState(KnownDrives drives, Set<UUID> down, List<DebtLevel> levels) {
  /**
   * As metadata knows it now.
   *
   * @param isMissing whether a drive is not there, whatever metadata tells of it
   */
  public static StoreState of(MetadataClient metadata, Predicate<UUID> isMissing)
      throws MetadataUnavailableException {
    KnownDrives drives = KnownDrives.of(metadata);
    return new StoreState(drives, drives.downOr(isMissing), metadata.debts());
  }

  public Protection protection() {
    return Protection.of(drives.registry(), levels, drives.map());
  }

  /** How much more may be lost now. */
  public FailureTolerance failureTolerance() {
    return FailureTolerance.of(drives, down, levels);
  }

  /** What cannot be read now, or could not after one more loss. */
  public DataRisk risk(MetadataClient metadata) throws MetadataUnavailableException {
    return DataRisk.of(drives, down, protection(), metadata::blobsInDebt);
  }

  /** How full the drives are together. */
  public StoreSpace space(Function<DriveRow, @Nullable DriveUse> use) {
    return StoreSpace.of(drives, down, use);
  }
}
