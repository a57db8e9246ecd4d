package dev.ashlar.gateway.access.policy.decision;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a policy says, computed from its document in the simplest way: nothing is prepared, all
 * comparisons are of texts, wildcards are followed by recursion. It shares no code with the engine.
 */
final class ReferencePolicy {
  /** Stand for the wildcards in the values of variables, which have no meaning. */
  private static final char LITERAL_ASTERISK = '\uE000';

  private static final char LITERAL_QUESTION_MARK = '\uE001';
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]*)}");

  private final ReferenceCaller caller;
  private final String action;
  private final String resource;
  private final Map<String, List<String>> context;

  ReferencePolicy(
      ReferenceCaller caller, String action, String resource, Map<String, List<String>> context) {
    this.caller = caller;
    this.action = action;
    this.resource = resource;
    this.context = context;
  }

  /** "deny", "caller", "account" or "nothing". */
  String verdict(Map<String, Object> policy) {
    List<String> answers = statements(policy).stream().map(this::answer).toList();
    return List.of("deny", "caller", "account").stream()
        .filter(answers::contains)
        .findFirst()
        .orElse("nothing");
  }

  static boolean isPublic(Map<String, Object> policy) {
    return statements(policy).stream()
        .anyMatch(
            s ->
                value(s, "Effect").equals("Allow")
                    && (s.containsKey("NotPrincipal") || names(value(s, "Principal")).contains("*"))
                    && !isFixed(s));
  }

  private static boolean isFixed(Map<String, Object> statement) {
    for (Map.Entry<String, Object> operator : object(statement, "Condition").entrySet()) {
      for (Map.Entry<String, Object> key : map(operator.getValue()).entrySet()) {
        List<String> values = list(key.getValue());
        boolean isVpc =
            key.getKey().equals("aws:SourceVpc")
                && List.of("StringEquals", "StringLike").contains(operator.getKey())
                && values.stream().noneMatch(v -> v.contains("*") || v.contains("${"));
        boolean isIp =
            operator.getKey().equals("IpAddress")
                && values.stream()
                    .allMatch(v -> Integer.parseInt(v.substring(v.indexOf('/') + 1)) >= 8);
        if (isVpc || isIp) {
          return true;
        }
      }
    }
    return false;
  }

  private String answer(Map<String, Object> statement) {
    String who = who(statement);
    boolean applies =
        !who.equals("nothing")
            && covers(statement, "Action", text -> like(lower(text), lower(action)))
            && covers(statement, "Resource", text -> like(resolve(text), resource))
            && object(statement, "Condition").entrySet().stream()
                .allMatch(operator -> allHold(operator.getKey(), map(operator.getValue())));
    if (!applies) {
      return "nothing";
    }
    return value(statement, "Effect").equals("Deny") ? "deny" : who;
  }

  private boolean covers(Map<String, Object> statement, String name, Predicate<String> test) {
    return statement.containsKey(name)
        ? list(value(statement, name)).stream().anyMatch(test)
        : !statement.containsKey("Not" + name)
            || list(value(statement, "Not" + name)).stream().noneMatch(test);
  }

  private String who(Map<String, Object> statement) {
    if (statement.containsKey("NotPrincipal")) {
      return listed(names(value(statement, "NotPrincipal"))).equals("nothing")
          ? "caller"
          : "nothing";
    }
    return statement.containsKey("Principal")
        ? listed(names(value(statement, "Principal")))
        : "caller";
  }

  private String listed(List<String> names) {
    List<String> self = caller.names();
    List<String> account = caller.accountNames();
    if (names.contains("*") || names.stream().anyMatch(self::contains)) {
      return "caller";
    }
    return names.stream().anyMatch(account::contains) ? "account" : "nothing";
  }

  private static List<String> names(Object principal) {
    return principal instanceof Map<?, ?> map
        ? map.values().stream().flatMap(value -> list(value).stream()).toList()
        : List.of((String) principal);
  }

  private boolean allHold(String operator, Map<String, Object> keys) {
    return keys.entrySet().stream()
        .allMatch(
            key ->
                holds(
                    operator,
                    context.getOrDefault(lower(key.getKey()), List.of()),
                    list(key.getValue())));
  }

  private boolean holds(String operator, List<String> actual, List<String> expected) {
    if (operator.equals("Null")) {
      return expected.contains(String.valueOf(actual.isEmpty()));
    }
    if (operator.endsWith("IfExists")) {
      return actual.isEmpty() || holds(operator.replace("IfExists", ""), actual, expected);
    }
    boolean isEmpty = actual.stream().allMatch(String::isEmpty);
    if (operator.startsWith("ForAllValues:")) {
      String inner = operator.replace("ForAllValues:", "");
      return isEmpty || actual.stream().allMatch(a -> holds(inner, List.of(a), expected));
    }
    if (operator.startsWith("ForAnyValue:")) {
      String inner = operator.replace("ForAnyValue:", "");
      return !isEmpty && actual.stream().anyMatch(a -> holds(inner, List.of(a), expected));
    }
    if (operator.contains("Not")) {
      return !holds(operator.replace("Not", ""), actual, expected);
    }
    return actual.stream().anyMatch(a -> expected.stream().anyMatch(e -> is(operator, a, e)));
  }

  private boolean is(String operator, String actual, String expected) {
    return switch (operator) {
      case "StringEquals" -> actual.equals(plain(resolve(expected)));
      case "StringEqualsIgnoreCase" -> lower(actual).equals(lower(plain(resolve(expected))));
      case "StringLike", "ArnLike" -> like(resolve(expected), actual);
      case "NumericLessThanEquals" ->
          actual.matches("\\d+") && new BigDecimal(actual).compareTo(new BigDecimal(expected)) <= 0;
      case "Bool" -> actual.equals(expected);
      case "IpAddress" -> actual.contains(".") && bits(actual).startsWith(network(expected));
      case "DateLessThan" -> actual.compareTo(expected) < 0;
      default -> throw new IllegalArgumentException(operator);
    };
  }

  private static String network(String cidr) {
    String[] parts = cidr.split("/", -1);
    return bits(parts[0]).substring(0, Integer.parseInt(parts[1]));
  }

  private static String bits(String address) {
    StringBuilder bits = new StringBuilder();
    for (String octet : address.split("\\.", -1)) {
      bits.append(Integer.toBinaryString(256 + Integer.parseInt(octet)).substring(1));
    }
    return bits.toString();
  }

  /** A variable without a value becomes a character that occurs nowhere. */
  private String resolve(String text) {
    Matcher matcher = VARIABLE.matcher(text);
    return matcher.replaceAll(
        variable -> {
          List<String> values = context.getOrDefault(lower(variable.group(1)), List.of());
          return values.size() != 1
              ? "\uE002"
              : Matcher.quoteReplacement(
                  values.get(0).replace('*', LITERAL_ASTERISK).replace('?', LITERAL_QUESTION_MARK));
        });
  }

  private static String plain(String text) {
    return text.replace(LITERAL_ASTERISK, '*').replace(LITERAL_QUESTION_MARK, '?');
  }

  static boolean like(String pattern, String text) {
    if (pattern.isEmpty()) {
      return text.isEmpty();
    }
    if (pattern.charAt(0) == '*') {
      return like(pattern.substring(1), text)
          || (!text.isEmpty() && like(pattern, text.substring(1)));
    }
    return !text.isEmpty()
        && (pattern.charAt(0) == '?' || plain(pattern.substring(0, 1)).charAt(0) == text.charAt(0))
        && like(pattern.substring(1), text.substring(1));
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  private static List<Map<String, Object>> statements(Map<String, Object> policy) {
    return ((List<?>) value(policy, "Statement")).stream().map(ReferencePolicy::map).toList();
  }

  private static Map<String, Object> object(Map<String, Object> parent, String name) {
    return parent.containsKey(name) ? map(value(parent, name)) : Map.of();
  }

  private static Object value(Map<String, Object> parent, String name) {
    return Objects.requireNonNull(parent.get(name), name);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  private static List<String> list(Object value) {
    return value instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of(String.valueOf(value));
  }
}
