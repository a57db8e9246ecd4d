package dev.ashlar.server.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Options under the names that MinIO has for them, in the environment and on the command line. Root
 * credentials are found by {@link RootCredential}, a key by {@link MinioKmsKey}.
 */
final class MinioAliases {
  private static final String PREFIX = "MINIO_";

  /** By option, the variable that counts first standing first. */
  private static final Map<String, List<String>> VARIABLES =
      Map.of(
          "--region", List.of("MINIO_SITE_REGION", "MINIO_REGION", "MINIO_REGION_NAME"),
          "--domain", List.of("MINIO_DOMAIN"),
          "--data", List.of("MINIO_VOLUMES"),
          "--default-encryption", List.of("MINIO_KMS_AUTO_ENCRYPTION"),
          "--listen", List.of("MINIO_ADDRESS"),
          "--management-listen", List.of("MINIO_CONSOLE_ADDRESS"));

  /** About a console and updates that are not there, or read by scripts only. */
  private static final Set<String> WITHOUT_EFFECT =
      Set.of(
          "MINIO_BROWSER",
          "MINIO_BROWSER_REDIRECT",
          "MINIO_BROWSER_REDIRECT_URL",
          "MINIO_CI_CD",
          "MINIO_OPTS",
          "MINIO_SERVER_URL",
          "MINIO_UPDATE",
          "MINIO_UPDATE_MINISIGN_PUBKEY");

  /** What Kubernetes sets for a service with the name minio. */
  private static final Pattern OF_KUBERNETES = Pattern.compile("MINIO_(PORT|SERVICE)(_.*)?");

  private MinioAliases() {}

  /** A value, and where it was found. */
  record Alias(String value, String from) {}

  /** By option, what the environment says. */
  static Map<String, Alias> ofEnvironment(Map<String, String> environment) {
    Map<String, Alias> found = new LinkedHashMap<>();
    VARIABLES.forEach(
        (option, variables) -> {
          for (String variable : variables) {
            String value = environment.getOrDefault(variable, "").strip();
            if (!value.isEmpty() && !found.containsKey(option)) {
              put(found, option, value, OptionSources.inEnvironment(variable));
            }
          }
        });
    return found;
  }

  /** By option, what these arguments say. */
  static Map<String, Alias> ofArguments(String... arguments) {
    MinioOptions options = new MinioOptions();
    try {
      new CommandLine(options).setUnmatchedArgumentsAllowed(true).parseArgs(arguments);
    } catch (ParameterException e) {
      return Map.of(); // The command reports it.
    }
    Map<String, Alias> found = new LinkedHashMap<>();
    put(found, "--listen", options.address(), MinioOptions.ADDRESS);
    put(found, "--management-listen", options.consoleAddress(), MinioOptions.CONSOLE_ADDRESS);
    return found;
  }

  private static void put(
      Map<String, Alias> found, String option, @Nullable String value, String from) {
    if (value != null) {
      found.put(option, new Alias(translated(option, value), from));
    }
  }

  private static String translated(String option, String value) {
    return switch (option) {
      case "--data" -> value.replaceAll("\\s+", ",");
      case "--listen" -> value.startsWith(":") ? "0.0.0.0" + value : value;
      // Metrics and the state of the store stay on this machine: nobody has asked for them.
      case "--management-listen" ->
          "127.0.0.1" + value.substring(Math.max(0, value.lastIndexOf(':')));
      case "--default-encryption" ->
          switch (value.toLowerCase(Locale.ROOT)) {
            case "on", "true", "enabled", "1", "t" -> "AES256";
            case "off", "false", "disabled", "0", "f" -> "none";
            default -> value; // an option that is wrong
          };
      default -> value;
    };
  }

  /** Variables of MinIO that have a meaning there and none here, sorted. */
  static List<String> unknown(Map<String, String> environment) {
    Set<String> names = new TreeSet<>(environment.keySet());
    names.removeIf(name -> !name.startsWith(PREFIX) || OF_KUBERNETES.matcher(name).matches());
    names.removeAll(WITHOUT_EFFECT);
    names.removeAll(RootCredential.variables());
    names.removeAll(MinioKmsKey.variables());
    VARIABLES.values().forEach(names::removeAll);
    return new ArrayList<>(names);
  }
}
