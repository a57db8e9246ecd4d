package dev.ashlar.server.config;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The file of {@code --kms-keys}: a JSON object with a list of keys. */
public final class KmsKeyFile {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9/_.@:-]{1,256}");
  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{43}=");
  private static final Set<String> FIELDS = Set.of("id", "key");

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private KmsKeyFile() {}

  /**
   * The keys by id, in their order.
   *
   * @throws IllegalArgumentException names the file and the entry, never a key
   */
  public static Map<String, byte[]> read(Path file) throws IOException {
    JsonNode root = tree(file);
    JsonNode list = root.path("keys");
    if (!root.isObject() || root.size() != 1 || !list.isArray() || list.isEmpty()) {
      throw new IllegalArgumentException(
          file + ": an object whose member keys is a list of keys is expected");
    }
    Map<String, byte[]> keys = new LinkedHashMap<>();
    for (int i = 0; i < list.size(); i++) {
      String entry = file + ", key " + (i + 1) + ": ";
      JsonNode key = list.get(i);
      for (Map.Entry<String, JsonNode> field : key.properties()) {
        if (!FIELDS.contains(field.getKey())) {
          throw new IllegalArgumentException(entry + "there is a field besides id and key");
        }
      }
      if (!ID.matcher(key.path("id").asText()).matches()) {
        throw new IllegalArgumentException(entry + "id has 1 to 256 letters, digits and /_.@:-");
      }
      if (!KEY.matcher(key.path("key").asText()).matches()) {
        throw new IllegalArgumentException(entry + "key has 32 bytes in Base64");
      }
      String id = key.path("id").asText();
      if (keys.put(id, Base64.getDecoder().decode(key.path("key").asText())) != null) {
        throw new IllegalArgumentException(entry + "there are two keys " + id);
      }
    }
    return keys;
  }

  private static JsonNode tree(Path file) throws IOException {
    try {
      return JSON.readTree(Files.readString(file));
    } catch (JsonProcessingException e) {
      // The text around the fault may be a key, so it is not quoted, nor is the cause kept.
      throw new IllegalArgumentException(
          file
              + ": no JSON: the fault is in line "
              + e.getLocation().getLineNr()
              + ", column "
              + e.getLocation().getColumnNr());
    }
  }
}
