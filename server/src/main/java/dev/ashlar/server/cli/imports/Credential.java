package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Side;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * An access key, from the environment or from a file: a secret on the command line would be seen by
 * everybody on the machine.
 */
record Credential(String accessKey, String secretKey, Optional<String> sessionToken) {
  /** Names of the three, in the environment as in files. */
  record Names(String accessKey, String secretKey, String sessionToken) {
    static final Names SOURCE =
        new Names(
            "ASHLAR_SOURCE_ACCESS_KEY", "ASHLAR_SOURCE_SECRET_KEY", "ASHLAR_SOURCE_SESSION_TOKEN");
    static final Names TARGET =
        new Names("ASHLAR_ACCESS_KEY", "ASHLAR_SECRET_KEY", "ASHLAR_SESSION_TOKEN");
  }

  /**
   * From the environment, else from this file, as everywhere.
   *
   * @param file null: none
   * @param option names the file
   */
  static Credential read(
      Map<String, String> environment, @Nullable Path file, Names names, String option)
      throws IOException {
    boolean isInEnvironment =
        environment.containsKey(names.accessKey()) || environment.containsKey(names.secretKey());
    Map<String, String> found = file == null || isInEnvironment ? environment : content(file);
    String accessKey = found.getOrDefault(names.accessKey(), "");
    String secretKey = found.getOrDefault(names.secretKey(), "");
    if (accessKey.isBlank() || secretKey.isBlank()) {
      throw new IOException(
          "%s and %s have to be in %s"
              .formatted(
                  names.accessKey(),
                  names.secretKey(),
                  file == null ? "the environment, or in the file of " + option : file));
    }
    return new Credential(
        accessKey, secretKey, Optional.ofNullable(found.get(names.sessionToken())));
  }

  /**
   * With it, at this address.
   *
   * @param option names the address
   * @param authorities file with those that its certificate comes from; null: those of Java
   */
  Side.Access at(String option, URI endpoint, String region, @Nullable Path authorities)
      throws IOException {
    OptionTypes.require(
        ("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
            && endpoint.getHost() != null,
        "%s must be http://HOST:PORT or https://HOST:PORT, not %s",
        option,
        endpoint);
    return new Side.Access(
        endpoint,
        region,
        accessKey,
        secretKey,
        sessionToken,
        authorities == null ? null : Authorities.read(authorities).trustManagers());
  }

  private static Map<String, String> content(Path file) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " cannot be read: it has a wrong escape", e);
    }
    Map<String, String> content = new HashMap<>();
    properties
        .stringPropertyNames()
        .forEach(name -> content.put(name, properties.getProperty(name)));
    return content;
  }

  @Override
  public String toString() {
    return "Credential[" + accessKey + "]";
  }
}
