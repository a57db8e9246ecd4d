package dev.ashlar.importer;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * A page of ListObjectVersions in the order of its document. The SDK returns versions and delete
 * markers in two lists, from which the order of those of one second is lost.
 *
 * @param versions newest first within a key
 * @param nextKey empty if this is the last page
 */
record VersionPage(List<Version> versions, String nextKey, String nextVersionId) {
  private static final String URL_ENCODING = "url";
  private static final String ROOT = "ListVersionsResult";

  /**
   * @throws IOException if it is anything else: what is taken for an empty list lets a mirror
   *     delete everything
   */
  static VersionPage read(InputStream document) throws IOException {
    try {
      XMLStreamReader reader = factory().createXMLStreamReader(document);
      Map<String, String> head = new HashMap<>();
      List<Map<String, String>> entries = new ArrayList<>();
      read(reader, head, entries);
      boolean isEncoded = URL_ENCODING.equals(head.get("EncodingType"));
      List<Version> versions = new ArrayList<>();
      for (Map<String, String> entry : entries) {
        versions.add(version(entry, isEncoded));
      }
      return new VersionPage(
          versions,
          hasMore(head) ? decoded(head.getOrDefault("NextKeyMarker", ""), isEncoded) : "",
          head.getOrDefault("NextVersionIdMarker", ""));
    } catch (XMLStreamException | IllegalArgumentException | DateTimeParseException e) {
      throw new IOException("the list of versions cannot be read: " + e.getMessage(), e);
    }
  }

  private static boolean hasMore(Map<String, String> head) {
    String isTruncated = head.getOrDefault("IsTruncated", "");
    if (isTruncated.equals("false")) {
      return false;
    }
    if (!isTruncated.equals("true")) {
      throw new IllegalArgumentException("it does not say whether there is more");
    }
    if (head.getOrDefault("NextKeyMarker", "").isEmpty()) {
      throw new IllegalArgumentException("it has more, and does not say where");
    }
    return true;
  }

  private static XMLInputFactory factory() {
    XMLInputFactory factory = XMLInputFactory.newFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    factory.setProperty(XMLInputFactory.IS_COALESCING, true);
    return factory;
  }

  private static void read(
      XMLStreamReader reader, Map<String, String> head, List<Map<String, String>> entries)
      throws XMLStreamException {
    int depth = 0;
    Map<String, String> entry = head;
    StringBuilder text = new StringBuilder();
    while (reader.hasNext()) {
      switch (reader.next()) {
        case XMLStreamConstants.START_ELEMENT -> {
          depth++;
          text.setLength(0);
          String name = reader.getLocalName();
          if (depth == 1 && !name.equals(ROOT)) {
            throw new IllegalArgumentException("it is a " + name + " instead of a " + ROOT);
          }
          if (depth == 2 && (name.equals("Version") || name.equals("DeleteMarker"))) {
            entry = new HashMap<>();
            entry.put("kind", name);
            entries.add(entry);
          }
        }
        case XMLStreamConstants.CHARACTERS -> text.append(reader.getText());
        case XMLStreamConstants.END_ELEMENT -> {
          if (depth == 3 && entry != head) {
            entry.put(reader.getLocalName(), text.toString());
          } else if (depth == 2 && entry == head) {
            head.put(reader.getLocalName(), text.toString());
          } else if (depth == 2) {
            entry = head;
          }
          depth--;
        }
        default -> {}
      }
    }
  }

  private static Version version(Map<String, String> entry, boolean isEncoded) {
    boolean isMarker = "DeleteMarker".equals(entry.get("kind"));
    String id = entry.getOrDefault("VersionId", "");
    return new Version(
        decoded(entry.getOrDefault("Key", ""), isEncoded),
        id.isEmpty() ? "null" : id,
        isMarker,
        isMarker ? "" : entry.getOrDefault("ETag", "").replace("\"", ""),
        isMarker ? 0 : Long.parseLong(entry.getOrDefault("Size", "0")),
        Instant.parse(entry.getOrDefault("LastModified", "")));
  }

  private static String decoded(String text, boolean isEncoded) {
    return isEncoded ? URLDecoder.decode(text, StandardCharsets.UTF_8) : text;
  }
}
