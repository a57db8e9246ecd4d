package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.TestDrives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The RocksDB index on a real folder. A crash goes on with a copy of its files as they are: without
 * a log, what is only in a memtable is not in them.
 */
public final class RocksIndexCrashes implements SimulatedIndex, AutoCloseable {
  private final Path folder;
  private final DriveResources resources;
  private int generation;
  private RocksShardIndex index;

  public RocksIndexCrashes(Path folder, DriveResources resources) throws IOException {
    this.folder = folder;
    this.resources = resources;
    index = TestDrives.index(current(), resources);
  }

  @Override
  public ShardIndex index() {
    return index;
  }

  @Override
  public void crash(Random random) throws IOException {
    Path before = current();
    generation++;
    copy(before, current());
    index.close();
    index = TestDrives.index(current(), resources);
  }

  @Override
  public void lose() throws IOException {
    generation++;
    index.close();
    index = TestDrives.index(current(), resources);
  }

  @Override
  public void close() {
    index.close();
  }

  private Path current() {
    return folder.resolve("index-" + generation);
  }

  /**
   * Copies the files of an index in use as a crash would leave them. The list of tables comes
   * first, and if any table has been compacted away meanwhile, all of it is done again.
   */
  public static void copy(Path from, Path to) throws IOException {
    while (!copied(from, to)) {
      try (Stream<Path> files = Files.list(to)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static boolean copied(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    List<Path> before = files(from);
    try {
      copy(from, to, true);
      copy(from, to, false);
      return files(from).containsAll(before);
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static void copy(Path from, Path to, boolean listOfTables) throws IOException {
    for (Path file : files(from)) {
      String name = file.getFileName().toString();
      if (listOfTables == (name.equals("CURRENT") || name.startsWith("MANIFEST"))) {
        Files.copy(file, to.resolve(name));
      }
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }
}
