package dev.ashlar.bench.capacity;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "By itself 1+2, 2+2, 4+2, 6+2 and 8+3, those left out that need more drives; a minute in all,"
          + " and 3 GB in --folder. TB are 10^12 bytes."
    },
    mixinStandardHelpOptions = true)
public final class CapacityCommand implements Callable<Integer>, Plan.Planned {
  private static final String NONE = "none";
  private static final List<String> PROFILES = List.of("1+2", "2+2", "4+2", "6+2", "8+3");

  /** As it is and padded. */
  private static final double PROFILE_SECONDS = 8;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--drives", defaultValue = "12", description = "Default: 12.")
  private int drives;

  @Option(
      names = "--drive-size",
      converter = Arguments.Size.class,
      defaultValue = "7.68TB",
      description = "Default: 7.68TB.")
  private long driveSize;

  @Option(names = "--price", description = "Of one drive, in whichever currency.")
  private @Nullable Double price;

  @Option(
      names = "--nodes",
      description = "Over which the drives are spread (default: each drive counts for itself).")
  private @Nullable Integer nodes;

  @Mixin private Options.Profiles profiles = new Options.Profiles();

  @Option(
      names = "--data-set",
      paramLabel = "SIZES",
      defaultValue = "files",
      description = {
        "files, photos, small, backup, none, or a file of lines 'size,count' or 'from-to,count'"
            + " (default: files)."
      })
  private String dataSet = "files";

  @Option(
      names = "--sample",
      paramLabel = "N",
      converter = Arguments.Count.class,
      defaultValue = "32",
      description = "Objects stored per power of two of sizes, at most (default: 32).")
  private int sample;

  @Mixin private Options.Folder folder = new Options.Folder();

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    boolean isMeasuring = !dataSet.equals(NONE);
    return new Plan().add(isMeasuring ? profiles.shapes(PROFILES).size() : 0, PROFILE_SECONDS);
  }

  @Override
  public Integer call() throws Exception {
    DriveSet set = driveSet();
    List<Profile> fitting = fittingProfiles();
    SizeDistribution sizes = dataSet.equals(NONE) ? null : sizes();
    ResultFolder kept = output.newFolder("capacity");
    CapacityResult result =
        new CapacityResult(
            Machine.describe(),
            set,
            set.rawBytes(),
            fitting.stream().map(profile -> ProfileCapacity.of(set, profile)).toList(),
            sizes == null ? null : measure(sizes, fitting, kept));
    kept.write("report.json", result);
    output.print(result, result::print);
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
    for (String text : profiles.shapes(PROFILES)) {
      Profile profile = Profile.parse(text, 0);
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
      return SizeDistribution.of(dataSet);
    } catch (NoSuchFileException e) {
      throw new ParameterException(
          spec.commandLine(),
          "'%s' is no file, and none of %s".formatted(dataSet, SizeDistribution.BUILT_IN),
          e);
    } catch (IOException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** Each profile as it is, and padded. */
  private CapacityResult.DataSet measure(
      SizeDistribution sizes, List<Profile> fitting, ResultFolder kept) throws Exception {
    List<SpaceTaken> space = new ArrayList<>();
    List<SizeDistribution.SizeClass> classes = sizes.classes();
    TimeLeft left = new TimeLeft(2 * fitting.size());
    for (Profile profile : fitting) {
      for (Profile each : List.of(profile, Profile.parse(profile + ",optimizations=off", 0))) {
        try (ScratchFolder scratch = folder.newScratch()) {
          SpaceTaken taken = SpaceTaken.measure(scratch.child("store"), each, classes, sample);
          kept.writeStep(each.toString(), 1, "space", taken);
          space.add(taken);
        }
        left.done(each.toString());
      }
    }
    return new CapacityResult.DataSet(sizes, space);
  }
}
