package dev.ashlar.bench.capacity;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * All of it.
 *
 * @param dataSet null where none was asked for
 */
record CapacityResult(
    String machine,
    DriveSet drives,
    long rawBytes,
    List<ProfileCapacity> profiles,
    @Nullable DataSet dataSet) {

  /**
   * A data set on drives.
   *
   * @param space per profile fast, then padded
   */
  record DataSet(
      String name, String description, double objects, double bytes, List<SpaceTaken> space) {
    DataSet(SizeDistribution sizes, List<SpaceTaken> space) {
      this(sizes.name(), sizes.description(), sizes.count(), sizes.bytes(), space);
    }
  }

  void print(PrintStream out) {
    out.println(machine);
    out.println();
    printDrives(out);
    if (dataSet != null) {
      out.println();
      printSpace(dataSet, out);
      out.println();
      printClasses(dataSet, out);
    }
  }

  private void printDrives(PrintStream out) {
    boolean hasNodes = drives.nodes() < drives.drives();
    Double price = drives.price();
    out.printf(
        Locale.ROOT,
        "%d drives of %s TB%s: %s TB raw%s.%n%n",
        drives.drives(),
        terabytes((double) drives.driveBytes()),
        hasNodes ? " in " + drives.nodes() + " nodes" : "",
        terabytes((double) rawBytes),
        price != null ? " for " + amount(drives.drives() * price) : "");
    List<String> columns =
        new ArrayList<>(
            List.of(
                "profile",
                "overhead",
                "usable TB",
                "of raw",
                "first drive full at TB",
                "drives lost, reads go on",
                "… writes go on"));
    if (hasNodes) {
      columns.add("nodes lost, reads go on");
      columns.add("… writes go on");
    }
    if (price != null) {
      columns.add("cost per usable TB");
    }
    header(columns, 1, out);
    for (ProfileCapacity profile : profiles) {
      List<String> cells =
          new ArrayList<>(
              List.of(
                  profile.profile(),
                  ratio(profile.overhead()),
                  terabytes((double) profile.usableBytes()),
                  "%.0f %%".formatted(100.0 * profile.usableBytes() / rawBytes),
                  terabytes((double) profile.firstFullBytes()),
                  String.valueOf(profile.drivesLostReading()),
                  String.valueOf(profile.drivesLostWriting())));
      if (hasNodes) {
        cells.add(String.valueOf(profile.nodesLostReading()));
        cells.add(String.valueOf(profile.nodesLostWriting()));
      }
      Double perTerabyte = profile.pricePerUsableTerabyte();
      if (perTerabyte != null) {
        cells.add(amount(perTerabyte));
      }
      row(cells, out);
    }
  }

  private void printSpace(DataSet data, PrintStream out) {
    out.printf(
        Locale.ROOT,
        "%s: %.0f objects of %.0f bytes on average. %s%n%n",
        data.name(),
        data.objects(),
        data.bytes() / data.objects(),
        data.description());
    List<String> columns =
        new ArrayList<>(
            List.of(
                "profile", "", "by arithmetic", "on drives", "as first written", "of it fits TB"));
    if (drives.price() != null) {
      columns.add("cost per TB of it");
    }
    header(columns, 2, out);
    for (SpaceTaken taken : data.space()) {
      double fits = drives.bytesForData() * data.bytes() / taken.liveBytes();
      Double price = ProfileCapacity.pricePerTerabyte(drives, fits);
      List<String> cells =
          new ArrayList<>(
              List.of(
                  taken.profile(),
                  taken.isPadded() ? "padded" : "Ashlar",
                  ratio(taken.arithmeticBytes() / data.bytes()),
                  ratio(taken.liveBytes() / data.bytes()),
                  ratio(taken.writtenBytes() / data.bytes()),
                  terabytes(fits)));
      if (price != null) {
        cells.add(amount(price));
      }
      row(cells, out);
    }
  }

  /** Bytes on drives per byte, with headers: first ours, then the padded. */
  private static void printClasses(DataSet data, PrintStream out) {
    List<String> columns = new ArrayList<>(List.of("objects up to"));
    for (SpaceTaken taken : data.space()) {
      columns.add(taken.profile() + (taken.isPadded() ? " padded" : ""));
    }
    header(columns, 1, out);
    int classes = data.space().getFirst().classes().size();
    for (int i = 0; i < classes; i++) {
      List<String> cells = new ArrayList<>();
      for (SpaceTaken taken : data.space()) {
        SpaceTaken.OfClass ofClass = taken.classes().get(i);
        if (cells.isEmpty()) {
          cells.add(binary(ofClass.toBytes()));
        }
        cells.add(ratio(ofClass.live()));
      }
      row(cells, out);
    }
  }

  private static void header(List<String> columns, int texts, PrintStream out) {
    row(columns, out);
    out.println("|" + "---|".repeat(texts) + "--:|".repeat(columns.size() - texts));
  }

  private static void row(List<String> cells, PrintStream out) {
    out.println("| " + String.join(" | ", cells) + " |");
  }

  private static String terabytes(double bytes) {
    return String.format(Locale.ROOT, "%.2f", bytes / ProfileCapacity.TERABYTE);
  }

  private static String ratio(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%.0f", value);
  }

  private static String amount(double money) {
    return String.format(Locale.ROOT, "%,.2f", money);
  }

  private static String binary(long bytes) {
    String[] units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    long value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
      value >>= 10;
      unit++;
    }
    return value + " " + units[unit];
  }
}
