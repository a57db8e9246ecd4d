package dev.ashlar.gateway.audit;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads lines of the audit log as a JSON parser does that knows nothing of how they are made. */
public final class AuditLines {
  private AuditLines() {}

  /** The fields of each line of a file; those of objects by NAME.NAME. */
  public static List<Map<String, String>> read(Path file) throws IOException {
    List<Map<String, String>> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(parse(line));
    }
    return lines;
  }

  static Map<String, String> parse(String line) throws IOException {
    Map<String, String> fields = new LinkedHashMap<>();
    try (JsonParser parser = new JsonFactory().createParser(line)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no object: " + line);
      }
      object(parser, "", fields);
      if (parser.nextToken() != null) {
        throw new IOException("more than an object: " + line);
      }
    }
    return fields;
  }

  private static void object(JsonParser parser, String prefix, Map<String, String> fields)
      throws IOException {
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = prefix + parser.currentName();
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        object(parser, name + ".", fields);
      } else if (fields.put(name, parser.getText()) != null) {
        throw new IOException("twice: " + name);
      }
    }
  }
}
