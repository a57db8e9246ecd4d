package dev.ashlar.gateway.query;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.uri.Query;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The parameters of a request, each with one value. */
public final class QueryParameters {
  private static final int PARAMETERS_MAX = 1000;

  private final Map<String, String> values;

  private QueryParameters(Map<String, String> values) {
    this.values = values;
  }

  /** A member of a list of structures: Tags.member.1.Key and so on. */
  public record Member(String prefix, QueryParameters of) {
    public String required(String name) throws QueryException {
      return of.required(prefix + name);
    }

    public Optional<String> optional(String name) {
      return of.optional(prefix + name);
    }
  }

  /**
   * @param form application/x-www-form-urlencoded
   */
  static QueryParameters parse(byte[] form) throws QueryException {
    Map<String, String> values = new LinkedHashMap<>();
    Query query;
    try {
      query = Query.parse(new String(form, StandardCharsets.ISO_8859_1));
    } catch (S3Exception e) {
      throw new QueryException(
          QueryError.MALFORMED_QUERY_STRING, "The request body is not a URL-encoded form.", e);
    }
    if (query.size() > PARAMETERS_MAX) {
      throw new QueryException(
          QueryError.MALFORMED_QUERY_STRING, "The request has too many parameters.");
    }
    for (int i = 0; i < query.size(); i++) {
      if (values.putIfAbsent(query.name(i), query.value(i)) != null) {
        throw new QueryException(
            QueryError.MALFORMED_QUERY_STRING,
            "The parameter " + query.name(i) + " is given more than once.");
      }
    }
    return new QueryParameters(values);
  }

  public Optional<String> optional(String name) {
    return Optional.ofNullable(values.get(name));
  }

  public String required(String name) throws QueryException {
    String value = values.get(name);
    if (value == null) {
      String member = Character.toLowerCase(name.charAt(0)) + name.substring(1);
      throw new QueryException(
          QueryError.VALIDATION_ERROR,
          "1 validation error detected: Value null at '"
              + member
              + "' failed to satisfy constraint: Member must not be null");
    }
    return value;
  }

  /**
   * A text of limited length and form.
   *
   * @param pattern of the whole text
   */
  public String text(String name, int minChars, int maxChars, Pattern pattern)
      throws QueryException {
    return checked(name, required(name), minChars, maxChars, pattern);
  }

  public Optional<String> optionalText(String name, int minChars, int maxChars, Pattern pattern)
      throws QueryException {
    Optional<String> value = optional(name);
    return value.isEmpty()
        ? value
        : Optional.of(checked(name, value.get(), minChars, maxChars, pattern));
  }

  private static String checked(
      String name, String value, int minChars, int maxChars, Pattern pattern)
      throws QueryException {
    if (value.length() < minChars) {
      throw QueryException.invalid(
          name, value, "Member must have length greater than or equal to " + minChars);
    }
    if (value.length() > maxChars) {
      throw QueryException.invalid(
          name, value, "Member must have length less than or equal to " + maxChars);
    }
    if (!pattern.matcher(value).matches()) {
      throw QueryException.invalid(
          name, value, "Member must satisfy regular expression pattern: " + pattern.pattern());
    }
    return value;
  }

  /** An integer between two bounds, or the default if it is absent. */
  public int number(String name, int min, int max, int otherwise) throws QueryException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    long number = Query.integer(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (number < min) {
      throw QueryException.invalid(
          name, value, "Member must have value greater than or equal to " + min);
    }
    if (number > max) {
      throw QueryException.invalid(
          name, value, "Member must have value less than or equal to " + max);
    }
    return (int) number;
  }

  public boolean flag(String name, boolean otherwise) throws QueryException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    return switch (value) {
      case "true", "True" -> true;
      case "false", "False" -> false;
      default -> throw QueryException.invalid(name, value, "Member must be true or false");
    };
  }

  /** The values of NAME.member.1, NAME.member.2 and so on. */
  public List<String> list(String name) {
    List<String> list = new ArrayList<>();
    for (int i = 1; ; i++) {
      String value = values.get(name + ".member." + i);
      if (value == null) {
        return list;
      }
      list.add(value);
    }
  }

  /**
   * The structures NAME.member.1.…, NAME.member.2.… and so on.
   *
   * @param first a name that each structure has
   */
  public List<Member> structures(String name, String first) {
    List<Member> list = new ArrayList<>();
    for (int i = 1; ; i++) {
      String prefix = name + ".member." + i + ".";
      if (!values.containsKey(prefix + first)) {
        return list;
      }
      list.add(new Member(prefix, this));
    }
  }
}
