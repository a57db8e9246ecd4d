package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.config.DriveConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Where data and metadata are stored, and how data is protected. */
public final class DataOptions {
  @Option(
      names = "--data",
      paramLabel = "FOLDERS",
      defaultValue = "./data/d{1...6}",
      description = "Data folders, one per drive. '/mnt/d{1...6}' names six; separate with commas.")
  private String data = "";

  @Option(
      names = "--metadata",
      paramLabel = "FOLDERS",
      showDefaultValue = Visibility.NEVER,
      description =
          "Metadata folders: 1, 3 or 5; exactly 1 on a metadata node of a cluster. Default: inside"
              + " the data folders if there is only one or each is a device or mount of its own,"
              + " otherwise one folder beside them.")
  private @Nullable String metadata;

  @Option(
      names = "--profile",
      paramLabel = "K+M",
      showDefaultValue = Visibility.NEVER,
      description =
          "Data and parity shards. Default: as the data is; of a new store 4+2, with less than six"
              + " drives 3+2, 2+2, 2+1, 1+1 or 1+0. Append ',optimizations=off' for classic mode"
              + " (padded, full-stripe I/O), for comparisons only.")
  private @Nullable String profile;

  @Option(
      names = "--stripe-unit",
      paramLabel = "BYTES",
      converter = OptionTypes.SmallBytes.class,
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Strip size: a multiple of 4KiB up to 1MiB. Default: 16KiB; 4KiB in classic mode.")
  private int stripeUnit;

  @Option(
      names = "--codec",
      paramLabel = "NAME",
      defaultValue = "auto",
      description = "Erasure codec: auto, isal (fail if ISA-L cannot be loaded) or java.")
  private CodecChoice codec = CodecChoice.AUTO;

  @Option(
      names = "--drive-capacity",
      paramLabel = "BYTES",
      converter = OptionTypes.Bytes.class,
      defaultValue = "0",
      description = "Maximum space to use on each drive, such as 500GiB. 0: the whole file system.")
  private long driveCapacityBytes;

  @Option(
      names = "--hang-after",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "Fail a drive when one of its I/Os has hung for this long. At least 10.")
  private int hangAfterSeconds;

  @Option(
      names = "--hedge-budget",
      paramLabel = "PERCENT",
      defaultValue = "5",
      description =
          "Maximum share of additional reads sent to other drives when a drive is slow. 0: none.")
  private int hedgePercent;

  void check() {
    long capacityMin = DriveConfig.Limits.DEFAULT.capacityBytesMin();
    require(
        driveCapacityBytes == 0 || driveCapacityBytes >= capacityMin,
        "--drive-capacity %s leaves no room for data: use at least %s bytes, or 0 for the whole"
            + " file system",
        driveCapacityBytes,
        capacityMin);
    long hangAfterMin = DriveConfig.Limits.DEFAULT.stallTimeout().toSeconds();
    require(
        hangAfterSeconds >= hangAfterMin, "--hang-after takes at least %s seconds", hangAfterMin);
    require(
        hedgePercent >= 0 && hedgePercent <= 100,
        "--hedge-budget takes 0 to 100, not %s",
        hedgePercent);
  }

  List<Path> dataFolders() {
    return FolderPattern.expand(data);
  }

  /** Empty if not given. */
  List<Path> metadataFolders() {
    return metadata == null || metadata.isBlank() ? List.of() : FolderPattern.expand(metadata);
  }

  /**
   * Of new data.
   *
   * @param drives of a store in one process; of a cluster, whatever is at least 6
   */
  Profile profile(int drives) {
    return Profile.parse(profile == null ? profileOf(drives) : profile, stripeUnit);
  }

  /** As much parity as so few drives can have and leave half of the space for data. */
  private static String profileOf(int drives) {
    return switch (drives) {
      case 1 -> "1+0";
      case 2 -> "1+1";
      case 3 -> "2+1";
      case 4 -> "2+2";
      case 5 -> "3+2";
      default -> "4+2";
    };
  }

  /** Whether data that was made so is what these options ask for. */
  boolean allow(Profile present) {
    return profile == null
        ? stripeUnit == 0 || stripeUnit == present.stripeUnit()
        : present.equals(Profile.parse(profile, stripeUnit));
  }

  /** Other folders than those of --data. */
  void useFolders(String folders) {
    data = folders;
  }

  public CodecChoice codec() {
    return codec;
  }

  /** Of each drive. */
  public DriveConfig.Limits driveLimits() {
    DriveConfig.Limits limits =
        DriveConfig.Limits.DEFAULT.withTimeouts(
            DriveConfig.Limits.DEFAULT.stallTimeout(), Duration.ofSeconds(hangAfterSeconds));
    return driveCapacityBytes == 0 ? limits : limits.withCapacity(driveCapacityBytes);
  }

  public int hedgePercent() {
    return hedgePercent;
  }
}
