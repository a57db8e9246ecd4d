package dev.ashlar.bench.options;

import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.process.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that several commands have, to be mixed into them. */
public abstract class Options {
  private Options() {}

  /** How often all is measured. */
  public static final class Passes {
    @Option(
        names = "--passes",
        paramLabel = "N",
        converter = Arguments.Count.class,
        defaultValue = "3",
        description = "Number of passes per figure; a large spread is reported (default: 3).")
    private int passes = 3;

    public int passes() {
      return passes;
    }
  }

  /** What makes two runs ask for the same. */
  public static final class Seed {
    @Option(
        names = "--seed",
        paramLabel = "N",
        defaultValue = "1",
        description = "Seed of the order of operations, keys and offsets (default: 1).")
    private long seed = 1;

    public long seed() {
      return seed;
    }
  }

  /** How long is measured; what a command takes by itself stands in its description. */
  public static class Times {
    @Option(
        names = "--seconds",
        paramLabel = "SECONDS",
        converter = Arguments.PositiveSeconds.class,
        description = "Measured seconds of each pass.")
    private @Nullable Double seconds;

    @Option(
        names = "--warm-up",
        paramLabel = "SECONDS",
        converter = Arguments.Seconds.class,
        description = "Seconds of the same work before each pass, not measured.")
    private @Nullable Double warmUpSeconds;

    public double seconds(double preset) {
      return seconds == null ? preset : seconds;
    }

    public double warmUpSeconds(double preset) {
      return warmUpSeconds == null ? preset : warmUpSeconds;
    }
  }

  /** A quick look or what is to be quoted, and the times of either. */
  public static final class Form extends Times {
    @Option(names = "--full", description = "Longer passes and warm-up, for figures to quote.")
    private boolean isFull;

    public boolean isFull() {
      return isFull;
    }

    public double seconds(double quick, double full) {
      return seconds(isFull ? full : quick);
    }

    public double warmUpSeconds(double quick, double full) {
      return warmUpSeconds(isFull ? full : quick);
    }
  }

  /** Which disk is measured. */
  public static class Folder {
    /** Eleven drives keep 256 MiB each for deletes and moves before they take anything. */
    private static final long FREE_BYTES_WARNED = 4L << 30;

    @Option(
        names = "--folder",
        paramLabel = "FOLDER",
        defaultValue = ".",
        description = "Folder for temporary drive folders (default: the current one).")
    private Path folder = Path.of(".");

    /** A new folder in it for this run. */
    public ScratchFolder newScratch() throws IOException {
      ScratchFolder scratch = ScratchFolder.in(folder);
      long freeBytes = Files.getFileStore(folder).getUsableSpace();
      if (freeBytes < FREE_BYTES_WARNED) {
        System.err.printf(
            "Only %,d MiB are free in %s: drives that are full refuse what is written to them.%n",
            freeBytes >> 20, folder);
      }
      return scratch;
    }
  }

  /** How our own servers are started, and where their folders are. */
  public static final class OwnServer extends Folder {
    @Option(
        names = "--ashlar",
        paramLabel = "FILE",
        defaultValue = "./ashlar",
        description = "Launcher that starts the servers under test (default: ./ashlar).")
    private Path launcher = Path.of("ashlar");

    public Path launcher() {
      return launcher;
    }
  }

  /** Which storage classes of a store that runs take part. */
  public static final class StorageClasses {
    @Option(
        names = "--storage-class",
        split = ",",
        paramLabel = "CLASS[,CLASS...]",
        hideParamSyntax = true,
        converter = Arguments.StorageClass.class,
        description =
            "Storage classes of --endpoint to measure in turn, each in a bucket of its own, for"
                + " example STANDARD,COLD. Can be repeated.")
    private @Nullable List<String> classes;

    /**
     * Each once, in the order in which they were named; empty when none was.
     *
     * @throws BenchException when there are some and the server is started here, without them
     */
    public List<String> of(@Nullable EndpointOptions endpoint) {
      if (classes != null && endpoint == null) {
        throw new BenchException(
            "--storage-class needs --endpoint: a store that has these classes.");
      }
      return classes == null ? List.of() : classes.stream().distinct().toList();
    }
  }

  /** Which profiles take part. */
  public static final class Profiles {
    /** At commas before a number: others belong to a profile, as in 6+2,optimizations=off. */
    @Option(
        names = "--profile",
        split = ",(?=\\d)",
        paramLabel = "PROFILE[,PROFILE...]",
        hideParamSyntax = true,
        converter = Arguments.ProfileText.class,
        description = "Profiles to measure, for example 4+2,6+2. Can be repeated.")
    private @Nullable List<String> profiles;

    /** Each once, however often it was named. */
    public List<String> or(List<String> preset) {
      return profiles == null ? preset : profiles.stream().distinct().toList();
    }

    /** For commands that show both modes of each, or where modes do not matter: as {@code 6+2}. */
    public List<String> shapes(List<String> preset) {
      return or(preset).stream().map(profile -> profile.split(",", 2)[0]).distinct().toList();
    }
  }
}
