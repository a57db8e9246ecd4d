package dev.ashlar.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access key that may do everything.
 *
 * @param origin where it came from, for the start-up message
 * @param fresh whether it was made just now
 */
record RootCredential(String accessKey, String secretKey, String origin, boolean fresh) {
  private static final Logger LOG = LoggerFactory.getLogger(RootCredential.class);
  private static final String ACCESS_KEY = "ASHLAR_ACCESS_KEY";
  private static final String SECRET_KEY = "ASHLAR_SECRET_KEY";
  private static final String FILE = "credentials";
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final String SECRET_ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  RootCredential {
    if (accessKey.length() < 3 || accessKey.length() > 128 || accessKey.contains("/")) {
      throw new IllegalArgumentException("an access key has 3 to 128 characters and no slash");
    }
    if (secretKey.length() < 8) {
      throw new IllegalArgumentException("a secret key has at least 8 characters");
    }
  }

  /**
   * From the environment, else from the first folder that has it in a file, else made up. What is
   * not from the environment is kept in every folder, so that it is lost only with all of them.
   */
  static RootCredential load(Map<String, String> environment, List<Path> folders)
      throws IOException {
    String accessKey = environment.get(ACCESS_KEY);
    String secretKey = environment.get(SECRET_KEY);
    if (accessKey != null && secretKey != null) {
      return new RootCredential(accessKey, secretKey, "the environment", false);
    }
    if (accessKey != null || secretKey != null) {
      throw new IllegalArgumentException(ACCESS_KEY + " and " + SECRET_KEY + " go together");
    }
    List<Path> files = folders.stream().map(folder -> folder.resolve(FILE)).toList();
    RootCredential kept = readAny(files);
    RootCredential credential = kept == null ? generate(files.get(0)) : kept;
    for (Path file : files) {
      if (!Files.exists(file)) {
        try {
          write(file, credential);
        } catch (IOException e) {
          if (kept == null) {
            throw e;
          }
          LOG.error("the credentials are not kept in {}: {}", file, e.getMessage());
        }
      }
    }
    return credential;
  }

  /** The first that can be read; null when there is no file. */
  private static @Nullable RootCredential readAny(List<Path> files) throws IOException {
    IOException damage = null;
    for (Path file : files) {
      if (Files.exists(file)) {
        try {
          return read(file);
        } catch (IOException e) {
          LOG.error("credentials: {}", e.getMessage());
          damage = e;
        }
      }
    }
    if (damage != null) {
      throw damage;
    }
    return null;
  }

  private static RootCredential read(Path file) throws IOException {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
      String accessKey = properties.getProperty(ACCESS_KEY);
      String secretKey = properties.getProperty(SECRET_KEY);
      if (accessKey == null || secretKey == null) {
        throw new IOException("lacks " + ACCESS_KEY + " or " + SECRET_KEY);
      }
      return new RootCredential(accessKey, secretKey, file.toString(), false);
    } catch (IOException | IllegalArgumentException e) {
      throw new IOException(file + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static RootCredential generate(Path file) {
    SecureRandom random = new SecureRandom();
    return new RootCredential(
        "AK" + text(random, ALPHABET, 18),
        text(random, SECRET_ALPHABET, 40),
        file.toString(),
        true);
  }

  private static void write(Path file, RootCredential credential) throws IOException {
    String content =
        ACCESS_KEY
            + "="
            + credential.accessKey
            + "\n"
            + SECRET_KEY
            + "="
            + credential.secretKey
            + "\n";
    DurableFile.write(file, content, "rw-------");
  }

  private static String text(SecureRandom random, String alphabet, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return "RootCredential[" + accessKey + "]";
  }
}
