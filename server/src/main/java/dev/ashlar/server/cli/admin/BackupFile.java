package dev.ashlar.server.cli.admin;

import dev.ashlar.metadata.backup.BackupHeader;
import dev.ashlar.metadata.backup.BackupReader;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.server.config.PortAddress;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** A file for a backup of metadata, which is there whole and verified, or not at all. */
final class BackupFile {
  private static final String PAGE = "/admin/metadata-backup";

  private final Path file;
  private final Path unfinished;

  BackupFile(Path file) {
    this.file = file.toAbsolutePath();
    this.unfinished = this.file.resolveSibling(this.file.getFileName() + ".new");
  }

  /**
   * Takes the backup from the first of these that has the metadata, and leads.
   *
   * @return what to tell the user
   */
  List<String> write(List<PortAddress> ports, AdminClient client)
      throws IOException, InterruptedException {
    if (Files.exists(file)) {
      throw new FileAlreadyExistsException(file.toString(), null, "is left as it is");
    }
    try {
      download(ports, client);
      DurableFiles.sync(unfinished);
      List<String> told = verify();
      DurableFiles.rename(unfinished, file);
      return told;
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private void download(List<PortAddress> ports, AdminClient client)
      throws IOException, InterruptedException {
    List<String> refusals = new ArrayList<>();
    for (PortAddress port : ports) {
      try {
        Files.deleteIfExists(unfinished);
        Files.createFile(
            unfinished,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        client.download(port, PAGE, unfinished);
        return;
      } catch (IOException e) {
        refusals.add(port + ": " + e.getMessage());
      }
    }
    throw new IOException(String.join("; ", refusals));
  }

  /** Reads what is on the drive. */
  private List<String> verify() throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(unfinished), 1 << 20)) {
      BackupReader reader = new BackupReader(in);
      long rows = reader.forEach((key, value) -> {});
      BackupHeader header = reader.header();
      return List.of(
          String.format(
              "%s: %,d rows of cluster %s, up to log entry %d, taken %s, verified.",
              file, rows, header.cluster(), header.index(), header.taken()),
          "It holds access keys and policies: keep it as safe as the metadata itself.");
    } catch (IOException e) {
      throw new IOException("the backup did not arrive whole: " + e.getMessage(), e);
    }
  }
}
