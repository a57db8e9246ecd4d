package dev.ashlar.gateway.uri;

import dev.ashlar.gateway.error.S3Exception;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parameters behind the question mark, decoded. */
public final class Query {
  private static final Query EMPTY = new Query(List.of());

  private record Parameter(String name, String value) {}

  private final List<Parameter> parameters;

  private Query(List<Parameter> parameters) {
    this.parameters = parameters;
  }

  /** Takes a name and a value as they came over the wire. */
  public interface RawParameters {
    void add(String name, String value) throws S3Exception;
  }

  /** Cuts a query at its ampersands; the value of a parameter without one is empty. */
  public static void split(String raw, RawParameters into) throws S3Exception {
    for (int start = 0; start < raw.length(); ) {
      int end = raw.indexOf('&', start);
      end = end < 0 ? raw.length() : end;
      int equals = raw.indexOf('=', start);
      if (equals >= 0 && equals < end) {
        into.add(raw.substring(start, equals), raw.substring(equals + 1, end));
      } else if (end > start) {
        into.add(raw.substring(start, end), "");
      }
      start = end + 1;
    }
  }

  public static Query parse(String raw) throws S3Exception {
    if (raw.isEmpty()) {
      return EMPTY;
    }
    List<Parameter> parameters = new ArrayList<>(4);
    split(
        raw,
        (name, value) ->
            parameters.add(new Parameter(Percent.decode(name, true), Percent.decode(value, true))));
    return new Query(parameters);
  }

  public boolean isEmpty() {
    return parameters.isEmpty();
  }

  public int size() {
    return parameters.size();
  }

  public String name(int index) {
    return parameters.get(index).name;
  }

  public String value(int index) {
    return parameters.get(index).value;
  }

  public boolean has(String name) {
    return get(name) != null;
  }

  /** The first value; empty for a parameter without one. */
  public @Nullable String get(String name) {
    // A handful of parameters: a walk beats a map.
    for (Parameter parameter : parameters) {
      if (parameter.name.equals(name)) {
        return parameter.value;
      }
    }
    return null;
  }

  public String get(String name, String otherwise) {
    String value = get(name);
    return value == null ? otherwise : value;
  }

  /**
   * A count like max-keys: what is above {@code max} counts as {@code max}.
   *
   * @throws S3Exception InvalidArgument when it is no integer or negative
   */
  public int count(String name, int max) throws S3Exception {
    String value = get(name);
    if (value == null || value.isEmpty()) {
      return max;
    }
    return Math.min(max, number(name, value));
  }

  /** A number from 0 to 2^31-1; 0 when absent. */
  public int number(String name) throws S3Exception {
    String value = get(name);
    return value == null || value.isEmpty() ? 0 : number(name, value);
  }

  /**
   * @param name for the error
   */
  public static int number(String name, String value) throws S3Exception {
    long number = integer(value, 0, Integer.MAX_VALUE);
    if (number < 0) {
      throw S3Exception.invalidArgument(
          "Provided " + name + " not an integer or within integer range", name, value);
    }
    return (int) number;
  }

  /** The integer that the text is; -1 if it is none, or out of range. */
  public static long integer(String text, long min, long max) {
    try {
      long number = Long.parseLong(text);
      return number >= min && number <= max ? number : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
