package dev.ashlar.bench.engine;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * What reads, overwrites and appends cost the drives, by their own counters, beside what they cost
 * without our optimizations. Folding is off: it comes later, once for many changes of a blob, and
 * writes a few bytes per drive but no payload.
 */
@Command(
    name = "io-cost",
    description = {
      "Reads and writes of the drives per operation, fast and classic.",
      "Each operation is counted once and not timed; half a minute in all."
    },
    mixinStandardHelpOptions = true)
public final class IoCostCommand implements Callable<Integer>, Plan.Planned {
  static final List<String> SHAPES = List.of("2+2", "4+2", "6+2", "8+2", "8+3");
  private static final int[] SIZES = {4 << 10, 16 << 10, 32 << 10, 64 << 10};

  /** Fast and classic. */
  private static final int MODES = 2;

  private static final double STORE_SECONDS = 3;
  private static final double SHAPE_SECONDS = 3;

  @Mixin private Options.Profiles profiles = new Options.Profiles();

  @Mixin private Options.Folder folder = new Options.Folder();

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    List<String> shapes = profiles.shapes(SHAPES);
    return new Plan().add(stores(shapes).size(), STORE_SECONDS).add(shapes.size(), SHAPE_SECONDS);
  }

  /** The fast profile of this shape and the classic one. */
  static List<Profile> modes(String shape) {
    return List.of(Profile.parse(shape, 0), Profile.parse(shape + ",optimizations=off", 0));
  }

  /** Which shapes are in one store: as few stores as can have all of them. */
  static List<List<String>> stores(List<String> shapes) {
    int most = Profiles.PRESENT_MAX / MODES;
    List<List<String>> stores = new ArrayList<>();
    for (int from = 0; from < shapes.size(); from += most) {
      stores.add(shapes.subList(from, Math.min(shapes.size(), from + most)));
    }
    return stores;
  }

  /** Of one store. */
  static List<Profile> profiles(List<String> shapes) {
    return shapes.stream().flatMap(shape -> modes(shape).stream()).toList();
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
    ResultFolder kept = output.newFolder("io-cost");
    LocalEngine.Memory memory = LocalEngine.Memory.ofAServer();
    List<String> shapes = profiles.shapes(SHAPES);
    TimeLeft left = new TimeLeft(shapes.size());
    List<Result.Row> rows = new ArrayList<>();
    for (List<String> together : stores(shapes)) {
      try (ScratchFolder scratch = folder.newScratch();
          LocalEngine engine =
              LocalEngine.open(scratch.child("store"), profiles(together), memory)) {
        for (String shape : together) {
          rows.addAll(rows(shape, engine, kept));
          left.done(shape);
        }
      }
    }
    Result result = new Result(Machine.describe(), rows);
    kept.write("report.json", result);
    output.print(result, result::print);
    return 0;
  }

  private static List<Result.Row> rows(String shape, LocalEngine engine, ResultFolder kept)
      throws IOException,
          DataUnavailableException,
          MetadataUnavailableException,
          InterruptedException {
    List<Result.Row> rows = new ArrayList<>();
    for (Access access : Access.values()) {
      for (Profile profile : modes(shape)) {
        Result.Row row = row(shape, access, engine, profile);
        kept.writeStep(profile.toString(), 1, access.title(), row);
        rows.add(row);
      }
    }
    return rows;
  }

  private static Result.Row row(String shape, Access access, LocalEngine engine, Profile profile)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    List<Result.Cost> costs = new ArrayList<>();
    for (int bytes : sizes(shape)) {
      DriveCounts counts = access.cost(engine, profile, bytes);
      costs.add(
          new Result.Cost(
              bytes, counts.reads(), counts.writes(), counts.readBytes(), counts.writeBytes()));
    }
    String mode = profile.isClassic() ? "classic" : "fast";
    return new Result.Row(shape, access.title(), mode, costs);
  }

  /** The table of what operations cost the drives. */
  record Result(String machine, List<Row> rows) {

    /**
     * @param mode fast or classic
     * @param costs by size
     */
    record Row(String profile, String operation, String mode, List<Cost> costs) {
      private String line() {
        StringBuilder line = new StringBuilder("| ");
        line.append(String.join(" | ", profile, operation, mode));
        for (Cost cost : costs) {
          line.append(
              " | %d+%d · %d+%d"
                  .formatted(
                      cost.reads(),
                      cost.writes(),
                      cost.readBytes() >> 10,
                      cost.writeBytes() >> 10));
        }
        return line.append(" |").toString();
      }
    }

    /**
     * Of one operation.
     *
     * @param bytes that it reads or writes of the object
     */
    record Cost(int bytes, long reads, long writes, long readBytes, long writeBytes) {}

    void print(PrintStream out) {
      out.println(machine);
      out.println("Drive reads + writes per operation · KiB read + written.");
      out.println();
      out.println("| profile | operation | | 4 KiB | 16 KiB | 32 KiB | 64 KiB | k · 16 KiB |");
      out.println("|---|---|---|--:|--:|--:|--:|--:|");
      rows.forEach(row -> out.println(row.line()));
    }
  }
}
