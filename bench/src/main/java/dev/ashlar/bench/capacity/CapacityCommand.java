package dev.ashlar.bench.capacity;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.Machine;
import dev.ashlar.bench.SizeArgument;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How large a cluster has to be. */
@Command(
    name = "capacity",
    description = {
      "What given drives hold with each profile, what may fail, and what a usable terabyte costs;"
          + " and what a data set takes on drives, measured on a real store in a scratch folder,"
          + " beside the arithmetic and beside stores that fill up their stripes.",
      "TB are 10^12 bytes."
    },
    mixinStandardHelpOptions = true)
public final class CapacityCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--drives", defaultValue = "12", description = "Default: 12.")
  private int drives;

  @Option(
      names = "--drive-size",
      converter = SizeArgument.class,
      defaultValue = "7.68TB",
      description = "Default: 7.68TB.")
  private long driveSize;

  @Option(names = "--price", description = "Of one drive, in whichever currency.")
  private @Nullable Double price;

  @Option(
      names = "--nodes",
      description = "Over which the drives are spread (default: each drive counts for itself).")
  private @Nullable Integer nodes;

  @Option(
      names = "--profiles",
      split = ",",
      paramLabel = "K+M",
      defaultValue = "1+2,2+2,4+2,6+2,8+3",
      description = "Default: 1+2,2+2,4+2,6+2,8+3; those that need more drives are left out.")
  private List<String> profiles = List.of();

  @Option(
      names = "--objects",
      paramLabel = "SIZES",
      defaultValue = "files",
      description = {
        "A data set: files, photos, small, backup, none, or a file of lines 'size,count' or"
            + " 'from-to,count' (default: files)."
      })
  private String objects = "files";

  @Option(
      names = "--sample",
      paramLabel = "N",
      defaultValue = "32",
      description = "Objects stored per power of two of sizes, at most (default: 32).")
  private int sample;

  @Option(
      names = "--folder",
      defaultValue = ".",
      description =
          "Where the drive folders are made, and removed again; up to 3 GB (default: here).")
  private Path folder = Path.of(".");

  @Option(names = "--json", description = "JSON instead of tables.")
  private boolean isJson;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Override
  public Integer call() throws Exception {
    DriveSet set = driveSet();
    List<Profile> fitting = fittingProfiles();
    CapacityResult.DataSet dataSet = objects.equals("none") ? null : dataSet(sizes(), fitting);
    CapacityResult result =
        new CapacityResult(
            set,
            set.rawBytes(),
            fitting.stream().map(profile -> ProfileCapacity.of(set, profile)).toList(),
            dataSet);
    if (isJson) {
      out.println(Json.of(result));
    } else {
      out.println(Machine.describe());
      out.println();
      result.print(out);
    }
    return 0;
  }

  private DriveSet driveSet() {
    try {
      return new DriveSet(drives, driveSize, nodes == null ? drives : nodes, price);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private List<Profile> fittingProfiles() {
    List<Profile> fitting = new ArrayList<>();
    for (String text : profiles) {
      Profile profile;
      try {
        profile = Profile.parse(text, 0);
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), e.getMessage(), e);
      }
      if (profile.shards() <= drives) {
        fitting.add(profile);
      } else {
        System.err.printf("%s is left out: it needs %d drives%n", profile, profile.shards());
      }
    }
    if (fitting.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "No profile fits on " + drives + " drives");
    }
    return fitting;
  }

  private SizeDistribution sizes() {
    try {
      return SizeDistribution.of(objects);
    } catch (NoSuchFileException e) {
      throw new ParameterException(
          spec.commandLine(),
          "'%s' is no file, and none of %s".formatted(objects, SizeDistribution.BUILT_IN),
          e);
    } catch (IOException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** Each profile as it is, and padded. */
  private CapacityResult.DataSet dataSet(SizeDistribution sizes, List<Profile> fitting)
      throws Exception {
    List<SpaceTaken> space = new ArrayList<>();
    List<SizeDistribution.SizeClass> classes = sizes.classes();
    TimeLeft left = new TimeLeft(2 * fitting.size());
    for (Profile profile : fitting) {
      for (Profile each : List.of(profile, Profile.parse(profile + ",optimizations=off", 0))) {
        try (ScratchFolder scratch = ScratchFolder.in(folder)) {
          space.add(SpaceTaken.measure(scratch.child("store"), each, classes, sample));
        }
        left.done(each.toString());
      }
    }
    return new CapacityResult.DataSet(sizes, space);
  }
}
