package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.protocol.message.AppliedRow;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Locale;
import java.util.Properties;
import java.util.UUID;

/**
 * What a backup tells of itself, in text lines.
 *
 * @param cluster whose metadata it is
 * @param backup random: no other backup has it
 * @param form of the store that it is of
 * @param version of metadata in use
 * @param term of the last log entry that it contains
 * @param index of that entry
 * @param taken when it was begun, by the clock of the peer
 */
public record BackupHeader(
    UUID cluster, UUID backup, Form form, int version, long term, long index, Instant taken) {

  /** The processes of a store. */
  public enum Form {
    /** One process with all peers, a folder each. */
    FOLDERS,
    /** A cluster; each peer has its own process. */
    PROCESSES
  }

  static BackupHeader of(UUID cluster, Form form, AppliedRow applied, Instant taken) {
    return new BackupHeader(
        cluster,
        UUID.randomUUID(),
        form,
        applied.getVersion(),
        applied.getTerm(),
        applied.getIndex(),
        taken);
  }

  byte[] toBytes() {
    return String.format(
            Locale.ROOT,
            "cluster=%s\nbackup=%s\nform=%s\nversion=%d\nterm=%d\nindex=%d\ntaken=%s\n",
            cluster,
            backup,
            form,
            version,
            term,
            index,
            taken)
        .getBytes(StandardCharsets.UTF_8);
  }

  static BackupHeader parse(byte[] bytes) throws IOException {
    Properties lines = new Properties();
    lines.load(new StringReader(new String(bytes, StandardCharsets.UTF_8)));
    try {
      return new BackupHeader(
          UUID.fromString(lines.getProperty("cluster", "")),
          UUID.fromString(lines.getProperty("backup", "")),
          Form.valueOf(lines.getProperty("form", "")),
          Integer.parseInt(lines.getProperty("version", "")),
          Long.parseLong(lines.getProperty("term", "")),
          Long.parseLong(lines.getProperty("index", "")),
          Instant.parse(lines.getProperty("taken", "")));
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new DamagedFileException("its header cannot be read: " + e.getMessage());
    }
  }
}
