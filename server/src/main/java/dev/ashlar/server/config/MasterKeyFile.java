package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file of {@code --master-key-file}: a line NAME=KEY for each key, where the key is 32 bytes in
 * Base64. Blank lines and those that begin with # say nothing.
 */
public final class MasterKeyFile {
  private static final Pattern LINE =
      Pattern.compile("([A-Za-z0-9_.-]{1,128})=([A-Za-z0-9+/]{43}=)");

  private MasterKeyFile() {}

  /**
   * The keys by name, in their order.
   *
   * @throws IllegalArgumentException names the file and the line, never a key
   */
  public static Map<String, byte[]> read(Path file) throws IOException {
    Map<String, byte[]> keys = new LinkedHashMap<>();
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            file + ", line " + (i + 1) + ": NAME=KEY is expected, with 32 bytes in Base64");
      }
      if (keys.put(matcher.group(1), Base64.getDecoder().decode(matcher.group(2))) != null) {
        throw new IllegalArgumentException(
            file + ", line " + (i + 1) + ": there are two keys " + matcher.group(1));
      }
    }
    if (keys.isEmpty()) {
      throw new IllegalArgumentException(file + ": there is no key");
    }
    return keys;
  }
}
