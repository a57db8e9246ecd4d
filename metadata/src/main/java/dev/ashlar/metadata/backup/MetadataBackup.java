package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.consensus.checkpoint.TableExport;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AppliedRow;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.UUID;

/** Makes backups of metadata that is in use. */
public final class MetadataBackup {
  private MetadataBackup() {}

  /**
   * The bytes of a backup of these rows. To be closed by the caller, which ends the export.
   *
   * @throws MetadataUnavailableException when there is nothing to back up yet
   */
  public static InputStream of(TableExport rows, UUID cluster, BackupHeader.Form form, Instant now)
      throws MetadataUnavailableException, IOException {
    byte[] applied = rows.rows().get(Keys.applied());
    if (applied == null) {
      rows.close();
      throw MetadataUnavailableException.refused("metadata is empty");
    }
    BackupHeader header =
        BackupHeader.of(cluster, form, Table.parse(applied, AppliedRow.parser()), now);
    return new BackupStream(header, rows.rows(), rows);
  }
}
