package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.ObjectSummary;
import java.util.List;

/**
 * A page of a listing.
 *
 * @param entries keys and common prefixes together, in order
 * @param truncated whether more entries follow
 */
public record ListPage(List<Entry> entries, boolean truncated) {
  /** A key or a common prefix. */
  public sealed interface Entry {
    /** The key, or the common prefix including its delimiter; the next page starts after it. */
    String name();
  }

  /** An object. */
  public record Key(String name, ObjectSummary summary) implements Entry {}

  /** Keys rolled up by the delimiter. */
  public record CommonPrefix(String name) implements Entry {}
}
