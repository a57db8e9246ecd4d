package dev.ashlar.server.config;

import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The key of MinIO's built-in key management, NAME:KEY with 32 bytes in Base64: a key of SSE-KMS
 * here.
 */
record MinioKmsKey(String id, byte[] key) {
  static final String VARIABLE = "MINIO_KMS_SECRET_KEY";
  private static final Pattern VALUE =
      Pattern.compile("(%s):(%s)".formatted("[A-Za-z0-9/_.@-]{1,256}", "[A-Za-z0-9+/]{43}="));

  /**
   * From the environment; null: it has none.
   *
   * @throws IllegalArgumentException names the variable, never the key
   */
  static @Nullable MinioKmsKey in(Map<String, String> environment) {
    if (!MinioSecrets.isSet(environment, VARIABLE)) {
      return null;
    }
    String value;
    try {
      value = MinioSecrets.value(environment, VARIABLE);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    Matcher matcher = VALUE.matcher(value.strip());
    OptionTypes.require(matcher.matches(), "%s takes NAME:KEY, with 32 bytes in Base64", VARIABLE);
    return new MinioKmsKey(matcher.group(1), Base64.getDecoder().decode(matcher.group(2)));
  }

  /** The names of all variables that are looked for. */
  static List<String> variables() {
    return List.of(VARIABLE, VARIABLE + MinioSecrets.IN_FILE);
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "MinioKmsKey[" + id + "]";
  }
}
