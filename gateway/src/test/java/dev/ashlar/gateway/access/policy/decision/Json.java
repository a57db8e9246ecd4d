package dev.ashlar.gateway.access.policy.decision;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes documents of maps, lists and texts as JSON. */
final class Json {
  private Json() {}

  static String write(Object value) {
    return switch (value) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(member -> write(member.getKey()) + ": " + write(member.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case List<?> list ->
          list.stream().map(Json::write).collect(Collectors.joining(", ", "[", "]"));
      case String text -> '"' + text + '"';
      default -> value.toString();
    };
  }
}
