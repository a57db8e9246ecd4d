package dev.ashlar.bench.capacity;

import dev.ashlar.protocol.model.ByteSize;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How many objects of a data set have which size: lines {@code size,count} or, for all sizes of a
 * range, {@code from-to,count}. The count may be missing, for 1; empty lines and what follows a
 * {@code #} do not count.
 *
 * @param description the comment at its beginning
 */
record SizeDistribution(String name, String description, List<Share> shares) {
  static final List<String> BUILT_IN = List.of("files", "photos", "small", "backup");

  /** A range stands for so many sizes in it, whose logarithms lie evenly. */
  private static final int SIZES_OF_A_RANGE = 64;

  private static final long SMALL = 128;
  private static final long LARGE = 16L << 20;

  /** Objects of exactly this size, above 0. */
  record Share(long bytes, double count) {}

  /** Objects of at most so many bytes that no smaller class has, ordered by size. */
  record SizeClass(long toBytes, List<Share> shares) {
    double count() {
      return shares.stream().mapToDouble(Share::count).sum();
    }

    double bytes() {
      return shares.stream().mapToDouble(share -> share.bytes() * share.count()).sum();
    }

    /** So many sizes, each of which stands for as many objects as the others. */
    List<Long> sample(int objects) {
      List<Long> sizes = new ArrayList<>();
      double each = count() / objects;
      double seen = 0;
      for (Share share : shares) {
        seen += share.count();
        while (sizes.size() < objects && (sizes.size() + 0.5) * each <= seen) {
          sizes.add(share.bytes());
        }
      }
      return sizes;
    }
  }

  /** One that is built in, or a file. */
  static SizeDistribution of(String nameOrFile) throws IOException {
    if (!BUILT_IN.contains(nameOrFile)) {
      try (BufferedReader lines = Files.newBufferedReader(Path.of(nameOrFile))) {
        return parse(nameOrFile, lines);
      }
    }
    InputStream resource = SizeDistribution.class.getResourceAsStream(nameOrFile + ".csv");
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(Objects.requireNonNull(resource), StandardCharsets.UTF_8))) {
      return parse(nameOrFile, lines);
    }
  }

  static SizeDistribution parse(String name, BufferedReader reader) throws IOException {
    List<String> lines = reader.lines().toList();
    String description =
        lines.stream()
            .takeWhile(line -> line.startsWith("#"))
            .map(line -> line.substring(1).strip())
            .collect(Collectors.joining(" "));
    List<Share> shares = new ArrayList<>();
    for (int number = 1; number <= lines.size(); number++) {
      String line = lines.get(number - 1).replaceFirst("#.*", "").strip();
      if (!line.isEmpty()) {
        try {
          addLine(line, shares);
        } catch (IllegalArgumentException e) {
          throw new IOException(name + ", line " + number + ": " + e.getMessage(), e);
        }
      }
    }
    if (shares.isEmpty()) {
      throw new IOException(name + " names no object that is not empty");
    }
    return new SizeDistribution(name, description, shares);
  }

  private static void addLine(String line, List<Share> shares) {
    String[] fields = line.split(",", -1);
    if (fields.length > 2) {
      throw new IllegalArgumentException("'" + line + "' is neither size,count nor from-to,count");
    }
    double count = fields.length == 1 ? 1 : Double.parseDouble(fields[1]);
    if (!(count >= 0 && count < Double.MAX_VALUE)) {
      throw new IllegalArgumentException("a count of " + fields[1]);
    }
    String[] range = fields[0].split("-", -1);
    long from = ByteSize.parse(range[0]);
    long to = range.length == 1 ? from : ByteSize.parse(range[1]);
    if (range.length > 2 || to < from) {
      throw new IllegalArgumentException("'" + fields[0] + "' is no range");
    }
    addShares(from, to, count, shares);
  }

  /** Empty objects take nothing on drives. */
  private static void addShares(long from, long to, double count, List<Share> shares) {
    if (to == 0 || count == 0) {
      return;
    }
    if (from == to) {
      shares.add(new Share(from, count));
      return;
    }
    double low = Math.max(1, from);
    for (int i = 0; i < SIZES_OF_A_RANGE; i++) {
      double size = low * Math.pow(to / low, (i + 0.5) / SIZES_OF_A_RANGE);
      shares.add(new Share(Math.round(size), count / SIZES_OF_A_RANGE));
    }
  }

  double count() {
    return shares.stream().mapToDouble(Share::count).sum();
  }

  double bytes() {
    return shares.stream().mapToDouble(share -> share.bytes() * share.count()).sum();
  }

  /** By powers of two, the smallest first; very small ones are one class, very large ones too. */
  List<SizeClass> classes() {
    NavigableMap<Long, List<Share>> byClass = new TreeMap<>();
    for (Share share : shares) {
      byClass.computeIfAbsent(classOf(share.bytes()), first -> new ArrayList<>()).add(share);
    }
    List<SizeClass> classes = new ArrayList<>();
    byClass
        .values()
        .forEach(
            all -> {
              all.sort(Comparator.comparingLong(Share::bytes));
              long longest = all.getLast().bytes();
              classes.add(new SizeClass(Math.max(SMALL, powerOfTwoFor(longest)), all));
            });
    return classes;
  }

  private static long classOf(long bytes) {
    return Math.clamp(powerOfTwoFor(bytes), SMALL, LARGE);
  }

  private static long powerOfTwoFor(long bytes) {
    return bytes == 1 ? 1 : Long.highestOneBit(bytes - 1) << 1;
  }
}
