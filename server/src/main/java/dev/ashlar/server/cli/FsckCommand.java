package dev.ashlar.server.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.server.node.OfflineCheck;
import dev.ashlar.storage.drive.DriveCheck;
import dev.ashlar.storage.drive.DriveCheck.Finding;
import dev.ashlar.storage.drive.DriveCheck.Part;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ashlar fsck}: checks a drive folder that no process uses. */
@Command(
    name = "fsck",
    description =
        "Checks the drive in a folder that no process uses: its identity, index, log and the"
            + " checksums of all shards. Changes nothing. Exit code 0: whole, 1: damaged, 2: wrong"
            + " options, 3: not checked, because it is in use, no drive or unreadable.",
    exitCodeOnExecutionException = FsckCommand.NOT_CHECKED,
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class FsckCommand implements Callable<Integer> {
  private static final int DAMAGED = 1;
  static final int NOT_CHECKED = 3;

  @Parameters(paramLabel = "FOLDER", description = "Drive folder, as --data names it.")
  private Path folder = Path.of("");

  @Option(
      names = "--scratch",
      paramLabel = "FOLDER",
      description =
          "Where the copy of the index is made, and rebuilt if the index is damaged. Default: the"
              + " folder for temporary files.")
  private @Nullable Path scratch;

  @Option(names = "--json", description = "Print JSON for programs.")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    DriveCheck.Report report = OfflineCheck.run(folder, scratch);
    if (isJson) {
      System.out.println(new ObjectMapper().writeValueAsString(report));
    } else {
      lines(report).forEach(System.out::println);
    }
    System.out.flush();
    return report.findings().isEmpty() ? 0 : DAMAGED;
  }

  static List<String> lines(DriveCheck.Report report) {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "Drive %s of cluster %s: %,d bytes of shards in %,d segments verified, %,d places"
                + " damaged",
            report.drive(),
            report.cluster(),
            report.verifiedBytes(),
            report.segments(),
            report.findings().size() + report.moreFindings()));
    report.findings().forEach(finding -> lines.add(line(finding)));
    if (report.moreFindings() > 0) {
      lines.add(String.format(Locale.ROOT, "and %,d more places", report.moreFindings()));
    }
    Arrays.stream(Part.values())
        .filter(part -> report.findings().stream().anyMatch(each -> each.part() == part))
        .forEach(part -> lines.add(remedy(part)));
    return lines;
  }

  private static String line(Finding finding) {
    String file = finding.file().isEmpty() ? "" : finding.file() + ": ";
    return finding.part() == Part.SHARD
        ? String.format(
            Locale.ROOT,
            "%sblob %s, slot %d, %d bytes from byte %d of the shard: %s",
            file,
            finding.blob(),
            finding.slot(),
            finding.length(),
            finding.offset(),
            finding.what())
        : file + finding.what();
  }

  private static String remedy(Part part) {
    return switch (part) {
      case IDENTITY ->
          "Identity: the next start mends it. Replace the drive if that happens again.";
      case INDEX -> "Index: the next start rebuilds it from the log. No data is lost.";
      case LOG ->
          "Log: the drive begins a new incarnation at its next start, and its shards count again when"
              + " repair has read them. Start it while the other drives are up.";
      case SHARD ->
          "Shards: start the drive, and 'ashlar admin scrub --start': repair rebuilds them from the"
              + " other drives. Replace the drive if there are more than a few.";
    };
  }
}
