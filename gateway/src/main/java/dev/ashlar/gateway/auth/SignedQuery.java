package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.uri.Query;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The canonical query of a signature: names and values encoded again and sorted. */
final class SignedQuery {
  private static final SignedQuery EMPTY = new SignedQuery(List.of());
  private static final Comparator<Parameter> ORDER =
      Comparator.comparing(Parameter::name).thenComparing(Parameter::value);

  private final List<Parameter> parameters;

  /** Both encoded. */
  private record Parameter(String name, String value) {}

  private SignedQuery(List<Parameter> parameters) {
    this.parameters = parameters;
  }

  static SignedQuery parse(String raw) throws S3Exception {
    if (raw.isEmpty()) {
      return EMPTY;
    }
    List<Parameter> parameters = new ArrayList<>(8);
    Query.split(raw, (name, value) -> parameters.add(new Parameter(encoded(name), encoded(value))));
    parameters.sort(ORDER);
    return new SignedQuery(parameters);
  }

  private static String encoded(String raw) throws S3Exception {
    return Percent.appendCanonical(raw, true, new StringBuilder(raw.length() + 16)).toString();
  }

  /** The first value of that name, decoded. */
  @Nullable String get(String name) throws S3Exception {
    for (Parameter parameter : parameters) {
      if (parameter.name().equals(name)) {
        return Percent.decodeBytes(parameter.value());
      }
    }
    return null;
  }

  /** All parameters, decoded; every char stands for one byte. */
  List<Map.Entry<String, String>> decoded() throws S3Exception {
    List<Map.Entry<String, String>> decoded = new ArrayList<>(parameters.size());
    for (Parameter parameter : parameters) {
      decoded.add(
          Map.entry(Percent.decodeBytes(parameter.name()), Percent.decodeBytes(parameter.value())));
    }
    return decoded;
  }

  boolean has(String name) throws S3Exception {
    return get(name) != null;
  }

  /**
   * @param without the one parameter that cannot be signed: the signature
   */
  void appendTo(StringBuilder out, @Nullable String without) {
    boolean first = true;
    for (Parameter parameter : parameters) {
      if (!parameter.name().equals(without)) {
        if (!first) {
          out.append('&');
        }
        first = false;
        out.append(parameter.name()).append('=').append(parameter.value());
      }
    }
  }
}
