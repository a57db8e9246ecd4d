package dev.ashlar.it.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A block of a drive that holds anything but a directory.
 *
 * @param at where it begins in the file of its segment
 */
public record SegmentBlock(Path segment, long at) {
  private static final int BLOCK = 4096;

  /** Flips any bit of it. */
  public void flipBit(SplittableRandom random) throws IOException {
    FileBits.flip(segment, at + random.nextInt(BLOCK), random.nextInt(8));
  }

  /** Those of these drives. */
  public static Set<SegmentBlock> of(List<Path> driveFolders) throws IOException {
    Set<SegmentBlock> found = new LinkedHashSet<>();
    for (Path folder : driveFolders) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(SegmentBlock::isSegment).toList()) {
          add(file, found);
        }
      }
    }
    return found;
  }

  private static boolean isSegment(Path file) {
    return file.getFileName().toString().startsWith("segment");
  }

  private static void add(Path segment, Set<SegmentBlock> found) throws IOException {
    byte[] all = Files.readAllBytes(segment);
    for (int at = 0; at + BLOCK <= all.length; at += BLOCK) {
      byte[] block = Arrays.copyOfRange(all, at, at + BLOCK);
      if (!Arrays.equals(block, new byte[BLOCK]) && !isDirectory(block)) {
        found.add(new SegmentBlock(segment, at));
      }
    }
  }

  private static boolean isDirectory(byte[] block) {
    return new String(block, 0, 4, StandardCharsets.ISO_8859_1).equals("ASHB");
  }
}
