package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;

/** Secrets under MinIO's names: in a variable, or in a file that another variable names. */
final class MinioSecrets {
  /** What stands behind the name of a variable whose value is the name of a file. */
  static final String IN_FILE = "_FILE";

  /** Where such files are if they have no path. */
  private static final Path SECRETS = Path.of("/run/secrets");

  private MinioSecrets() {}

  /** Compose files set variables to nothing. */
  static boolean isSet(Map<String, String> environment, String name) {
    return !environment.getOrDefault(name, "").isBlank()
        || !environment.getOrDefault(name + IN_FILE, "").isBlank();
  }

  /**
   * The value of a variable that is set, or what is in its file.
   *
   * @throws IOException names the variable, never its value, if its file cannot be read
   */
  static String value(Map<String, String> environment, String name) throws IOException {
    String value = environment.getOrDefault(name, "");
    if (!value.isBlank()) {
      return value;
    }
    try {
      Path file = Path.of(environment.getOrDefault(name + IN_FILE, ""));
      return Files.readString(Files.exists(file) ? file : SECRETS.resolve(file)).strip();
    } catch (IOException | InvalidPathException e) {
      // Its message has the value, which may be the secret itself.
      throw new IOException(
          "%s names a file that cannot be read (%s)"
              .formatted(name + IN_FILE, e.getClass().getSimpleName()));
    }
  }
}
