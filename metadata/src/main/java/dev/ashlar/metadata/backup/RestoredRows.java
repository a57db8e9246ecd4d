package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.RocksTable;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.PgMapRow;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Writes the rows of a backup to new tables, changed so that nothing the drives hold from after the
 * backup can be taken for something else. The same on every peer.
 */
final class RestoredRows implements BackupReader.Rows {
  private static final int BATCH_BYTES = 1 << 20;

  private final RocksTable table;
  private final RestorePoint point;
  private TreeMap<byte[], Optional<byte[]>> batch = new TreeMap<>(Arrays::compareUnsigned);
  private long bytes;

  RestoredRows(RocksTable table, RestorePoint point) {
    this.table = table;
    this.point = point;
  }

  @Override
  public void row(byte[] key, byte[] value) {
    switch (key[0]) {
      case 'S' -> {} // nothing that was written under an earlier session can be committed any more
      case 'Z' -> {} // written at the end
      case 'X' -> put(key, applied(value).toByteArray());
      case 'M' -> put(key, map(value).toByteArray());
      case 'P' -> put(key, frozen(value).toByteArray());
      default -> put(key, value);
    }
  }

  /** Builds that do not know what is edited here refuse the version. */
  private AppliedRow applied(byte[] value) {
    AppliedRow applied = Table.parse(value, AppliedRow.parser());
    return applied.toBuilder()
        .setVersion(Math.max(applied.getVersion(), MetadataVersion.FREEZES_BLOBS))
        .setTerm(point.term())
        .setIndex(point.index())
        .build();
  }

  /** Its number is greater than that of any map which a process still knows. */
  private PgMapRow map(byte[] value) {
    return Table.parse(value, PgMapRow.parser()).toBuilder().setEpoch(point.index()).build();
  }

  private static BlobRow frozen(byte[] value) {
    return Table.parse(value, BlobRow.parser()).toBuilder().setFrozen(true).build();
  }

  /** Writes what is left, and that the loss has to be accepted. */
  void finish() {
    BalanceRow held = BalanceRow.newBuilder().setPaused(true).setRestored(true).build();
    put(Keys.balance(), held.toByteArray());
    flush();
  }

  private void put(byte[] key, byte[] value) {
    batch.put(key, Optional.of(value));
    bytes += key.length + value.length;
    if (bytes >= BATCH_BYTES) {
      flush();
    }
  }

  private void flush() {
    table.write(new Changes(batch));
    batch = new TreeMap<>(Arrays::compareUnsigned);
    bytes = 0;
  }
}
