package dev.ashlar.server.config;

import dev.ashlar.server.config.MinioAliases.Alias;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the environment says under the names that OpenTelemetry's specification has for all
 * programs. Those that stand for options count only if one of them names a collector that speaks
 * OTLP over HTTP: a server must not end because of variables that are meant for other programs.
 */
public final class OtelVariables {
  private static final String ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
  private static final String INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL";
  private static final String RATIO = "OTEL_TRACES_SAMPLER_ARG";
  private static final String HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";
  private static final String ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES";

  private static final Map<String, String> BY_OPTION =
      Map.of(
          "--otlp-endpoint", ENDPOINT,
          "--otlp-ca", "OTEL_EXPORTER_OTLP_CERTIFICATE",
          "--otlp-service", "OTEL_SERVICE_NAME",
          "--otlp-metrics-interval", INTERVAL,
          "--trace-ratio", RATIO);

  /** A name and a value of HTTP. */
  private static final Pattern HEADER = Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([ -~]+)");

  private OtelVariables() {}

  /** By option, what the environment says. */
  static Map<String, Alias> aliases(Map<String, String> environment) {
    Map<String, Alias> found = new LinkedHashMap<>();
    if (isMeant(environment)) {
      BY_OPTION.forEach(
          (option, variable) -> {
            String value = value(environment, variable);
            boolean isOther = variable.equals(RATIO) && !isRatio(environment);
            if (!value.isEmpty() && !isOther) {
              found.put(option, new Alias(inSeconds(variable, value), from(variable)));
            }
          });
    }
    return found;
  }

  private static boolean isMeant(Map<String, String> environment) {
    String endpoint = value(environment, ENDPOINT);
    return (endpoint.startsWith("http://") || endpoint.startsWith("https://"))
        && !value(environment, "OTEL_SDK_DISABLED").equalsIgnoreCase("true");
  }

  /** Other samplers have arguments of other forms. */
  private static boolean isRatio(Map<String, String> environment) {
    return value(environment, "OTEL_TRACES_SAMPLER").endsWith("traceidratio");
  }

  private static String value(Map<String, String> environment, String variable) {
    return environment.getOrDefault(variable, "").strip();
  }

  private static String from(String variable) {
    return OptionSources.inEnvironment(variable);
  }

  /** Intervals are in milliseconds there. */
  private static String inSeconds(String variable, String value) {
    return variable.equals(INTERVAL) && value.matches("[1-9][0-9]{0,8}")
        ? "" + Math.max(1, Long.parseLong(value) / 1000)
        : value;
  }

  /** What the environment adds to the description of this process, by name. */
  public static Map<String, String> resourceAttributes(Map<String, String> environment) {
    return pairs(value(environment, ATTRIBUTES));
  }

  /** NAME=VALUE, separated by commas, percent-encoded; what has another form is left out. */
  private static Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String each : text.split(",", -1)) {
      int equals = each.indexOf('=');
      String name = each.substring(0, Math.max(0, equals)).strip();
      if (!name.isEmpty()) {
        pairs.put(name, decoded(each.substring(equals + 1).strip()));
      }
    }
    return pairs;
  }

  private static String decoded(String value) {
    try {
      return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return value;
    }
  }

  /**
   * The headers for the collector: those of the file, or those of the environment.
   *
   * @param file null: there is none
   * @throws IOException if the file cannot be read, or has another form; names no value
   */
  public static Map<String, String> headers(@Nullable Path file, Map<String, String> environment)
      throws IOException {
    if (file == null) {
      Map<String, String> named = pairs(value(environment, HEADERS));
      for (Map.Entry<String, String> each : named.entrySet()) {
        if (!HEADER.matcher(each.getKey() + "=" + each.getValue()).matches()) {
          throw new IOException(HEADERS + " has a header that HTTP does not allow");
        }
      }
      return named;
    }
    Map<String, String> headers = new LinkedHashMap<>();
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher matcher = HEADER.matcher(line);
      if (!matcher.matches()) {
        throw new IOException(file + ", line " + (i + 1) + ": NAME=VALUE is expected");
      }
      headers.put(matcher.group(1), matcher.group(2));
    }
    return headers;
  }
}
