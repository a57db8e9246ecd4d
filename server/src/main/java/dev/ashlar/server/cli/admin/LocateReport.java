package dev.ashlar.server.cli.admin;

import static dev.ashlar.server.cli.admin.Table.Column.left;
import static dev.ashlar.server.cli.admin.Table.Column.right;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The page {@code locate} as text: the object, and a table of shards for each of its blobs. */
final class LocateReport {
  private LocateReport() {}

  static List<String> lines(JsonNode page) {
    List<String> lines = new ArrayList<>();
    JsonNode slices = page.path("located");
    lines.add(
        String.format(
            Locale.ROOT,
            "%s/%s, version %s: %,d bytes, ETag %s%s",
            text(page, "bucket"),
            text(page, "key"),
            text(page, "version"),
            page.path("size").asLong(),
            text(page, "etag"),
            page.path("checksum").isTextual() ? ", " + text(page, "checksum") : ""));
    for (JsonNode slice : slices) {
      lines.add("");
      lines.add(slice(slice));
      new Table(
              right("SLOT", row -> text(row, "slot")),
              left("KIND", row -> text(row, "kind")),
              left("STATE", row -> text(row, "state")),
              right("BYTES", row -> text(row, "bytes")),
              left("DRIVE", row -> text(row, "drive")),
              left("NODE", row -> text(row, "node")),
              left("NAME", row -> name(slice, row)),
              left("FOLDER", row -> text(row, "folder")))
          .lines(slice.path("shards"))
          .forEach(lines::add);
    }
    int more = page.path("slices").asInt() - slices.size();
    if (more > 0) {
      lines.add("");
      lines.add(String.format(Locale.ROOT, "and %,d more slices", more));
    }
    return lines;
  }

  private static String slice(JsonNode slice) {
    long from = slice.path("offset").asLong();
    long revision = slice.path("revision").asLong();
    String changes =
        revision == 0
            ? ""
            : ", revision " + revision + " (" + text(slice, "unfolded") + " changes unfolded)";
    return String.format(
        Locale.ROOT,
        "Bytes %d to %d: blob %s from %d of %d, profile %s, %d stripes, placement group %s%s%s",
        from,
        from + slice.path("bytes").asLong() - 1,
        text(slice, "blob"),
        slice.path("blobOffset").asLong(),
        slice.path("blobBytes").asLong(),
        text(slice, "profile"),
        slice.path("stripes").asLong(),
        text(slice, "group"),
        changes,
        slice.path("frozen").asBoolean() ? ", not changed in place" : "");
  }

  /** Only where the shard was rebuilt. */
  private static String name(JsonNode slice, JsonNode shard) {
    String name = text(shard, "name");
    return name.equals(text(slice, "blob")) ? "" : name;
  }

  private static String text(JsonNode row, String field) {
    JsonNode value = row.path(field);
    return value.isNull() ? "" : value.asText();
  }
}
