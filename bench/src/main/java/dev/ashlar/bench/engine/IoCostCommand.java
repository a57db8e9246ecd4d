package dev.ashlar.bench.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * What reads, overwrites and appends cost the drives, by their own counters, beside what they cost
 * without our optimizations. Folding is off: it comes later, once for many changes of a blob, and
 * writes a few bytes per drive but no payload.
 */
@Command(
    name = "io-cost",
    description = "Reads and writes of the drives per operation, fast and classic.",
    mixinStandardHelpOptions = true)
public final class IoCostCommand implements Callable<Integer> {
  static final List<String> SHAPES = List.of("2+2", "4+2", "6+2", "8+2", "8+3");
  private static final int[] SIZES = {4 << 10, 16 << 10, 32 << 10, 64 << 10};

  @Option(
      names = "--folder",
      defaultValue = ".",
      description = "Where the drive folders are made, and removed again (default: here).")
  private Path folder = Path.of(".");

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** The fast profile of this shape and the classic one. */
  static List<Profile> profiles(String shape) {
    return List.of(Profile.parse(shape, 0), Profile.parse(shape + ",optimizations=off", 0));
  }

  /** The sizes in the table's columns: the last is a stripe of the fast profile. */
  static int[] sizes(String shape) {
    int stripe = Profile.parse(shape, 0).stripeBytes();
    return IntStream.concat(IntStream.of(SIZES), IntStream.of(stripe)).toArray();
  }

  @Override
  public Integer call()
      throws IOException,
          DataUnavailableException,
          MetadataUnavailableException,
          InterruptedException {
    out.println("Drive reads + writes per operation · KiB read + written.");
    out.println();
    out.println("| profile | operation | | 4 KiB | 16 KiB | 32 KiB | 64 KiB | k · 16 KiB |");
    out.println("|---|---|---|--:|--:|--:|--:|--:|");
    LocalEngine.Memory memory = LocalEngine.Memory.ofAServer();
    for (String shape : SHAPES) {
      List<Profile> profiles = profiles(shape);
      try (ScratchFolder scratch = ScratchFolder.in(folder);
          LocalEngine fast =
              LocalEngine.Place.in(scratch.child("fast"), profiles.get(0)).open(memory);
          LocalEngine classic =
              LocalEngine.Place.in(scratch.child("classic"), profiles.get(1)).open(memory)) {
        for (Access access : Access.values()) {
          out.println(row(shape, access, "fast", fast));
          out.println(row(shape, access, "classic", classic));
        }
      }
    }
    return 0;
  }

  private static String row(String shape, Access access, String mode, LocalEngine engine)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    StringBuilder row = new StringBuilder();
    row.append("| ").append(String.join(" | ", shape, access.title(), mode));
    for (int bytes : sizes(shape)) {
      DriveCounts cost = access.cost(engine, bytes);
      row.append(
          " | %d+%d · %d+%d"
              .formatted(
                  cost.reads(), cost.writes(), cost.readBytes() >> 10, cost.writeBytes() >> 10));
    }
    return row.append(" |").toString();
  }
}
