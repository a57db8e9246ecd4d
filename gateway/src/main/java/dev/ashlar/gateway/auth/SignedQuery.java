package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Exception;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The query in the form that is signed: names and values encoded anew, sorted. */
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
    int start = 0;
    while (start < raw.length()) {
      int end = raw.indexOf('&', start);
      end = end < 0 ? raw.length() : end;
      if (end > start) {
        int equals = raw.indexOf('=', start);
        boolean valued = equals >= 0 && equals < end;
        parameters.add(
            new Parameter(
                UriEncoding.queryPart(raw, start, valued ? equals : end),
                valued ? UriEncoding.queryPart(raw, equals + 1, end) : ""));
      }
      start = end + 1;
    }
    parameters.sort(ORDER);
    return new SignedQuery(parameters);
  }

  /** The first value of that name, decoded. */
  @Nullable String get(String name) throws S3Exception {
    for (Parameter parameter : parameters) {
      if (parameter.name().equals(name)) {
        return UriEncoding.decode(parameter.value());
      }
    }
    return null;
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
