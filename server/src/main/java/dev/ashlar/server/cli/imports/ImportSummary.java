package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Tally;
import dev.ashlar.server.cli.admin.Units;
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
                tally.equals(),
                tally.failures()));
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
}
