package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.folder.MetadataFolders;
import dev.ashlar.metadata.consensus.folder.PrivateFolder;
import dev.ashlar.metadata.consensus.folder.RestoreMark;
import dev.ashlar.metadata.consensus.log.Vote;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.RocksTable;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes folders of metadata peers from a backup, while no peer runs. */
public final class MetadataRestore {
  private static final int READ_BYTES = 1 << 20;

  private final Path backup;
  private final BackupHeader header;
  private final long rows;
  private final RestorePoint point;

  private MetadataRestore(Path backup, BackupHeader header, long rows, RestorePoint point) {
    this.backup = backup;
    this.header = header;
    this.rows = rows;
    this.point = point;
  }

  /**
   * Verifies the whole backup, and writes nothing.
   *
   * @param time of the restore, as its first peer has it; null for the first peer
   * @param now by the clock of this machine
   * @throws IOException when it is damaged, or cannot be restored at this time
   */
  public static MetadataRestore prepare(Path backup, @Nullable Instant time, Instant now)
      throws IOException {
    BackupHeader header;
    long rows;
    try (InputStream in = open(backup)) {
      BackupReader reader = new BackupReader(in);
      header = reader.header();
      rows = reader.forEach((key, value) -> {});
    } catch (IOException e) {
      throw new IOException(backup + " cannot be used: " + e.getMessage(), e);
    }
    if (header.version() > MetadataVersion.KNOWN) {
      throw new IOException(
          new NewerVersionException("the backup is", header.version(), MetadataVersion.KNOWN)
              .getMessage());
    }
    RestorePoint point = time == null ? RestorePoint.first(header, now) : new RestorePoint(time);
    point.requireBehind(header, now);
    return new MetadataRestore(backup, header, rows, point);
  }

  private static InputStream open(Path backup) throws IOException {
    return new BufferedInputStream(Files.newInputStream(backup), READ_BYTES);
  }

  public BackupHeader header() {
    return header;
  }

  public RestorePoint point() {
    return point;
  }

  /** How many rows it has. */
  public long rows() {
    return rows;
  }

  /**
   * Refuses folders with any content.
   *
   * @param folders of peers; those that do not exist are empty
   * @param mayHave names of files that do not count
   */
  public static void requireEmpty(List<Path> folders, Set<String> mayHave) throws IOException {
    for (Path folder : folders) {
      Set<String> names =
          DurableFiles.listIfThere(folder).stream()
              .map(path -> path.getFileName().toString())
              .filter(name -> !mayHave.contains(name))
              .collect(Collectors.toSet());
      if (!names.isEmpty()) {
        throw new IOException(
            folder
                + " is not empty, but has "
                + names.stream().sorted().toList()
                + ": a restore needs empty metadata folders");
      }
    }
  }

  /** Fills the empty folder of a peer; what is incomplete does not start. */
  public void fill(Path folder, RocksResources resources) throws IOException {
    Path storage = MetadataFolders.raftDirectory(folder).resolve(header.cluster().toString());
    Path current = storage.resolve("current");
    Path checkpoints = storage.resolve("sm");
    Path scratch = folder.resolve("restore.new");
    for (Path each : List.of(current, checkpoints, scratch)) {
      PrivateFolder.create(each);
    }
    Path checkpoint = checkpoints.resolve("checkpoint-" + point.term() + "-" + point.index());
    try (RocksTable table = new RocksTable(scratch, resources);
        InputStream in = open(backup)) {
      RestoredRows restored = new RestoredRows(table, point);
      long unused = new BackupReader(in).forEach(restored);
      restored.finish();
      table.checkpoint(checkpoint);
    }
    DurableFiles.deleteTree(scratch);
    Vote.writeFirst(current, point.term());
    DurableFiles.syncTree(folder);
    DurableFiles.syncDirectoryOf(folder);
    RestoreMark.of(header.backup(), point.time()).write(folder);
  }
}
