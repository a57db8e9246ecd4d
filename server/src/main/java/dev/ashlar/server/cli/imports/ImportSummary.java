package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Tally;
import dev.ashlar.server.cli.admin.Units;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** What a pass has done, for people. */
final class ImportSummary {
  private ImportSummary() {}

  static List<String> lines(Tally tally) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "Copied: %d versions, %s. Equal: %d. Failed: %d."
            .formatted(
                tally.copies(),
                Units.bytes((double) tally.copiedBytes()),
                tally.present(),
                tally.failures()));
    if (tally.unsettledKeys() > 0) {
      lines.add("Changing all the time: " + tally.unsettledKeys() + " keys; the next pass looks.");
    }
    if (tally.changes() > 0) {
      lines.add("Tags or locks brought up to date: " + tally.changes() + " versions.");
    }
    if (tally.deletions() > 0) {
      lines.add("Deleted at the target: " + tally.deletions() + " versions.");
    }
    if (tally.extras() > 0) {
      lines.add("Only at the target: " + tally.extras() + " versions; --mirror deletes them.");
    }
    if (!tally.notCarriedOver().isEmpty()) {
      lines.add("Not carried over, because the target does not serve it:");
      tally.notCarriedOver().forEach(each -> lines.add("  " + each));
    }
    return lines;
  }

  /**
   * Up to when the target is as the source.
   *
   * @param began when the last pass began
   * @param lag how long ago that was
   * @param behind keys and settings that are not as at the source
   */
  static String lag(Instant began, Duration lag, long copies, long behind) {
    String reached =
        behind == 0
            ? "all changes before %s are copied (%d s ago)"
                .formatted(began.truncatedTo(ChronoUnit.SECONDS), lag.toSeconds())
            : behind + " keys or settings are behind";
    return "Lag: %s; the last pass copied %d versions.".formatted(reached, copies);
  }
}
