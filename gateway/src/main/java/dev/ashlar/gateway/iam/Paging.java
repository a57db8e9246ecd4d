package dev.ashlar.gateway.iam;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The part of a list that a request asks for. A marker names the last row of the page before, so it
 * stays right whatever is created or deleted meanwhile.
 *
 * @param after the last row of the page before; empty: from the first
 */
record Paging(Optional<IdentityRow> after, int max) {
  private static final int MAX = 1000;
  private static final int DEFAULT = 100;
  private static final int MARKER_CHARS_MAX = 2048;

  static Paging of(QueryParameters parameters) throws QueryException {
    int max = parameters.number("MaxItems", 1, MAX, DEFAULT);
    Optional<String> marker = parameters.optional("Marker");
    return new Paging(marker.isEmpty() ? Optional.empty() : Optional.of(row(marker.get())), max);
  }

  private static IdentityRow row(String marker) throws QueryException {
    try {
      if (!marker.isEmpty() && marker.length() <= MARKER_CHARS_MAX) {
        return IdentityRow.parseFrom(Base64.getUrlDecoder().decode(marker));
      }
    } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
      // Not a marker of ours.
    }
    throw new QueryException(QueryError.VALIDATION_ERROR, "Invalid Marker.");
  }

  /** Ends a page: says whether there is more, and where. */
  static void end(XmlWriter out, Optional<IdentityRow> last, boolean isTruncated) {
    boolean hasMore = isTruncated && last.isPresent();
    out.element("IsTruncated", hasMore);
    if (hasMore) {
      IdentityRow row = last.get();
      IdentityRow marker =
          IdentityRow.newBuilder()
              .setKind(row.getKind())
              .setId(row.getId())
              .setName(row.getName())
              .setPath(row.getPath())
              .build();
      out.element(
          "Marker", Base64.getUrlEncoder().withoutPadding().encodeToString(marker.toByteArray()));
    }
  }

  /** Writes a page of something that is all in memory, by its names. */
  <T> void write(
      XmlWriter out, String element, List<T> all, Function<T, String> name, Writer<T> writer) {
    String behind = after.map(IdentityRow::getName).orElse("");
    List<T> rest =
        all.stream()
            .filter(item -> name.apply(item).compareTo(behind) > 0)
            .sorted(Comparator.comparing(name))
            .toList();
    List<T> page = rest.subList(0, Math.min(max, rest.size()));
    out.open(element);
    page.forEach(item -> writer.write(out, item));
    out.close();
    Optional<IdentityRow> last =
        page.isEmpty()
            ? Optional.empty()
            : Optional.of(IdentityRow.newBuilder().setName(name.apply(page.getLast())).build());
    end(out, last, page.size() < rest.size());
  }

  /** Writes one member of a list. */
  @FunctionalInterface
  interface Writer<T> {
    void write(XmlWriter out, T item);
  }
}
