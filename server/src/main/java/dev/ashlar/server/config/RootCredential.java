package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access key that may do everything.
 *
 * @param origin where it came from, for the start-up message
 * @param fresh whether it was made just now
 */
public record RootCredential(String accessKey, String secretKey, String origin, boolean fresh) {
  private static final Logger LOG = LoggerFactory.getLogger(RootCredential.class);
  private static final String ACCESS_KEY = "ASHLAR_ACCESS_KEY";
  private static final String SECRET_KEY = "ASHLAR_SECRET_KEY";

  /** Variables of both, ours before MinIO's and those before its older ones. */
  private static final List<Variables> VARIABLES =
      List.of(
          new Variables(ACCESS_KEY, SECRET_KEY),
          new Variables("MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD"),
          new Variables("MINIO_ACCESS_KEY", "MINIO_SECRET_KEY"));

  private static final String FILE = "credentials";
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final String SECRET_ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  private static final int SECRET_CHARS = 40;

  public RootCredential {
    OptionTypes.require(
        accessKey.length() >= 3 && accessKey.length() <= 128 && fitsScope(accessKey),
        "an access key has 3 to 128 visible ASCII characters, none of them '/', ',' or '='");
    OptionTypes.require(
        secretKey.length() >= 8 && secretKey.equals(secretKey.strip()),
        "a secret key has at least 8 characters and no blank or line end around them");
  }

  /** Whether an Authorization header can carry it. */
  private static boolean fitsScope(String accessKey) {
    return accessKey.chars().allMatch(c -> c > ' ' && c < 0x7F && "/,=".indexOf(c) < 0);
  }

  /** Two variables of the environment that go together. */
  private record Variables(String accessKey, String secretKey) {
    /** The first of which one is set; null if none is. */
    static @Nullable Variables in(Map<String, String> environment) {
      for (Variables each : VARIABLES) {
        if (each.isSet(environment, each.accessKey) || each.isSet(environment, each.secretKey)) {
          return each;
        }
      }
      return null;
    }

    boolean isOfMinio() {
      return !accessKey.equals(ACCESS_KEY);
    }

    private boolean isSet(Map<String, String> environment, String name) {
      return isOfMinio() ? MinioSecrets.isSet(environment, name) : environment.containsKey(name);
    }

    RootCredential read(Map<String, String> environment) throws IOException {
      boolean hasAccessKey = isSet(environment, accessKey);
      OptionTypes.require(
          hasAccessKey && isSet(environment, secretKey),
          "%s is set, %s is not: they go together",
          hasAccessKey ? accessKey : secretKey,
          hasAccessKey ? secretKey : accessKey);
      try {
        return new RootCredential(
            value(environment, accessKey),
            value(environment, secretKey),
            OptionSources.inEnvironment(accessKey),
            false);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            accessKey + " and " + secretKey + ": " + e.getMessage(), e);
      }
    }

    private String value(Map<String, String> environment, String name) throws IOException {
      return isOfMinio()
          ? MinioSecrets.value(environment, name)
          : environment.getOrDefault(name, "");
    }
  }

  /** Those of this origin; null if it is a file. */
  private static @Nullable Variables variables(String origin) {
    return VARIABLES.stream()
        .filter(each -> origin.equals(OptionSources.inEnvironment(each.accessKey)))
        .findFirst()
        .orElse(null);
  }

  /** The names of all variables that are looked for. */
  static List<String> variables() {
    return VARIABLES.stream()
        .flatMap(each -> Stream.of(each.accessKey, each.secretKey))
        .flatMap(name -> Stream.of(name, name + MinioSecrets.IN_FILE))
        .toList();
  }

  /**
   * From the environment, else from the first folder that has it in a file, else made up. Writes
   * nothing, so that what is wrong with it is known before anything is formatted.
   */
  public static RootCredential find(Map<String, String> environment, List<Path> folders)
      throws IOException {
    Variables given = Variables.in(environment);
    if (given != null) {
      return given.read(environment);
    }
    List<Path> files = folders.stream().map(folder -> folder.resolve(FILE)).toList();
    RootCredential kept = readAny(files);
    return kept == null ? generate(files.get(0)) : kept;
  }

  /**
   * From our own variables, else from this file, else from variables of MinIO: gateways of a
   * cluster must all have the same, so none makes it up.
   */
  public static RootCredential given(Map<String, String> environment, @Nullable Path file)
      throws IOException {
    Variables given = Variables.in(environment);
    // Variables of MinIO may be about another store.
    if (given != null && (file == null || !given.isOfMinio())) {
      return given.read(environment);
    }
    if (file == null) {
      throw new IllegalArgumentException(
          "a gateway of a cluster needs ASHLAR_ACCESS_KEY and ASHLAR_SECRET_KEY in the"
              + " environment, or in the file that --credentials names");
    }
    return read(file);
  }

  /** The same of a process that can do without: null where it is given none. */
  public static @Nullable RootCredential ifGiven(
      Map<String, String> environment, @Nullable Path file) throws IOException {
    boolean isGiven = Variables.in(environment) != null || file != null;
    return isGiven ? given(environment, file) : null;
  }

  /** What is in this file, which is made if it is not there. */
  public static RootCredential kept(Path file) throws IOException {
    if (Files.exists(file)) {
      return read(file);
    }
    RootCredential made = generate(file);
    made.write(file);
    return made;
  }

  /**
   * Writes what is not from the environment into every folder that lacks it, so that it is lost
   * only with all of them.
   */
  public void keep(List<Path> folders) throws IOException {
    if (variables(origin) != null) {
      return;
    }
    for (Path folder : folders) {
      Path file = folder.resolve(FILE);
      if (!Files.exists(file)) {
        try {
          write(file);
        } catch (IOException e) {
          if (fresh) {
            throw e;
          }
          LOG.error("Cannot store the credentials in {}: {}", file, e.getMessage());
        }
      }
    }
  }

  /** The first that can be read; null when there is no file. */
  private static @Nullable RootCredential readAny(List<Path> files) throws IOException {
    IOException damage = null;
    for (Path file : files) {
      if (Files.exists(file)) {
        try {
          return read(file);
        } catch (IOException e) {
          LOG.error("Cannot read credentials: {}", e.getMessage());
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
        text(random, SECRET_ALPHABET, SECRET_CHARS),
        file.toString(),
        true);
  }

  /** So many letters and digits that nobody guesses. */
  public static String randomText(int length) {
    return text(new SecureRandom(), SECRET_ALPHABET, length);
  }

  private void write(Path file) throws IOException {
    String content = ACCESS_KEY + "=" + accessKey + "\n" + SECRET_KEY + "=" + secretKey + "\n";
    DurableFile.write(file, content, "rw-------");
  }

  private static String text(SecureRandom random, String alphabet, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  /** A command with which a user may try the server. */
  public String awsLine(String region, String endpoint) {
    String load = origin.startsWith("/") ? ". " + origin + " && " : "";
    Variables names = Objects.requireNonNullElse(variables(origin), VARIABLES.getFirst());
    return load
        + "AWS_ACCESS_KEY_ID=$%s AWS_SECRET_ACCESS_KEY=$%s AWS_REGION=%s aws --endpoint-url %s s3 mb"
            .formatted(names.accessKey, names.secretKey, region, endpoint)
        + " s3://my-bucket";
  }

  /** Where it came from, for the start-up message. */
  public String told() {
    return "access key " + accessKey + ", from " + origin;
  }

  @Override
  public String toString() {
    return "RootCredential[" + accessKey + "]";
  }
}
