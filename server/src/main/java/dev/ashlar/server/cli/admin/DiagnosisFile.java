package dev.ashlar.server.cli.admin;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.server.config.PortAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A ZIP file with what processes tell of themselves and of the store, without secrets. */
final class DiagnosisFile {
  /** Pages of every process, and their names in the file. */
  private static final List<Page> OF_EACH =
      List.of(
          new Page("/health", "health.json"),
          new Page("/admin/config", "config.json"),
          new Page("/admin/diagnosis", "process.json"),
          new Page("/scrub", "scrub.json"),
          new Page("/prometheus", "metrics.txt"));

  /** Pages of gateways, and of stores in one process. */
  private static final List<Page> OF_GATEWAYS =
      List.of(
          new Page("/admin/status", "status.json"),
          new Page("/admin/nodes", "nodes.json"),
          new Page("/admin/drives", "drives.json"),
          new Page("/admin/pgs", "pgs.json"),
          new Page("/admin/repair", "repair.json"),
          new Page("/admin/rebalance", "rebalance.json"),
          new Page("/admin/metadata", "metadata.json"));

  private final Path file;
  private final SecretRemoval secrets;

  private record Page(String path, String name) {}

  DiagnosisFile(Path file, SecretRemoval secrets) {
    this.file = file.toAbsolutePath();
    this.secrets = secrets;
  }

  /** Asks these processes, and writes what they answer. */
  void write(List<PortAddress> ports, AdminClient client, String version)
      throws IOException, InterruptedException {
    if (Files.exists(file)) {
      throw new FileAlreadyExistsException(file.toString(), null, "is left as it is");
    }
    Path unfinished = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(unfinished);
    Files.createFile(
        unfinished,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(unfinished))) {
        add(zip, "about.txt", about(version));
        for (PortAddress port : ports) {
          add(zip, port, client);
        }
      }
      DurableFiles.sync(unfinished);
      DurableFiles.rename(unfinished, file);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private static String about(String version) {
    return String.format(
        """
        A diagnosis of an Ashlar store, made %s by version %s.

        One folder for each process that was asked, with its health, configuration, metrics,
        threads, memory and last log lines; of gateways also the state of the store. What a process
        did not answer is in its file errors.txt.

        Secret keys and private keys are not in it. Names of nodes, folders, addresses and access
        keys are, and what the log says.
        """,
        Instant.now(), version);
  }

  private void add(ZipOutputStream zip, PortAddress port, AdminClient client)
      throws IOException, InterruptedException {
    String folder = port.endpoint().toString().replaceAll("[^A-Za-z0-9.-]", "_") + "/";
    List<String> errors = new ArrayList<>();
    List<Page> pages = new ArrayList<>(OF_EACH);
    pages.addAll(OF_GATEWAYS);
    for (Page page : pages) {
      try {
        add(zip, folder + page.name(), client.send(port, "GET", page.path()));
      } catch (IOException e) {
        errors.add(page.path() + ": " + e.getMessage());
      }
    }
    if (!errors.isEmpty()) {
      add(zip, folder + "errors.txt", String.join("\n", errors) + "\n");
    }
  }

  private void add(ZipOutputStream zip, String name, String text) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(secrets.from(text).getBytes(StandardCharsets.UTF_8));
    zip.closeEntry();
  }
}
