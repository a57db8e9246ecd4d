package dev.ashlar.it.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Bits that flip in files. */
public final class FileBits {
  private FileBits() {}

  /**
   * Flips a bit in the middle third of each table of a RocksDB folder.
   *
   * @return how many tables there are
   */
  public static int flipInTables(Path folder, SplittableRandom random) throws IOException {
    List<Path> tables;
    try (Stream<Path> files = Files.list(folder)) {
      tables = files.filter(file -> file.toString().endsWith(".sst")).sorted().toList();
    }
    for (Path table : tables) {
      long third = Files.size(table) / 3;
      flip(table, third + random.nextLong(Math.max(1, third)), random.nextInt(8));
    }
    return tables.size();
  }

  public static void flip(Path file, long at, int bit) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1 << bit)).flip();
      channel.write(one, at);
      channel.force(true);
    }
  }
}
