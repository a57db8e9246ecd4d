package dev.ashlar.gateway.cors;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What pages of some origins may do.
 *
 * @param id empty for none
 * @param exposed headers of answers that they may read
 * @param maxAgeSeconds how long browsers may keep the answer to a preflight request; negative: not
 *     said
 */
record CorsRule(
    String id,
    List<CorsPattern> headers,
    List<String> methods,
    List<CorsPattern> origins,
    List<String> exposed,
    long maxAgeSeconds) {
  CorsRule {
    headers = List.copyOf(headers);
    methods = List.copyOf(methods);
    origins = List.copyOf(origins);
    exposed = List.copyOf(exposed);
  }

  /** The pattern of the origin if it may use the method; null if it may not. */
  @Nullable CorsPattern origin(String origin, String method) {
    if (!methods.contains(method)) {
      return null;
    }
    return origins.stream().filter(each -> each.matches(origin, false)).findFirst().orElse(null);
  }

  /** Whether requests may have all of these headers. */
  boolean allows(List<String> names) {
    return names.stream()
        .allMatch(name -> headers.stream().anyMatch(each -> each.matches(name, true)));
  }

  /**
   * The headers of an answer.
   *
   * @param pattern that the origin matches
   * @param requested the headers that a preflight request asks for
   */
  Map<String, String> answer(CorsPattern pattern, String origin, List<String> requested) {
    Map<String, String> answer = new LinkedHashMap<>();
    boolean isAny = pattern.text().equals(CorsPattern.ANY);
    answer.put("Access-Control-Allow-Origin", isAny ? CorsPattern.ANY : origin);
    answer.put("Access-Control-Allow-Methods", String.join(", ", methods));
    if (!requested.isEmpty()) {
      answer.put(
          "Access-Control-Allow-Headers",
          requested.stream()
              .map(name -> name.toLowerCase(Locale.ROOT))
              .collect(Collectors.joining(", ")));
    }
    if (!exposed.isEmpty()) {
      answer.put("Access-Control-Expose-Headers", String.join(", ", exposed));
    }
    if (maxAgeSeconds >= 0) {
      answer.put("Access-Control-Max-Age", Long.toString(maxAgeSeconds));
    }
    if (!isAny) {
      answer.put("Access-Control-Allow-Credentials", "true");
    }
    answer.put("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
    return answer;
  }
}
