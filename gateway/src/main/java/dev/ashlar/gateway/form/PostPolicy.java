package dev.ashlar.gateway.form;

import dev.ashlar.gateway.access.policy.document.DocumentReader;
import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a form has to meet ("POST policy", Amazon S3 API Reference): its signer allows uploads until
 * a time, and of every field certain values.
 */
public record PostPolicy(Instant expiration, List<Condition> conditions) {
  private static final String BUCKET = "bucket";
  private static final String FORM = "Invalid according to Policy: ";

  /**
   * Fields that need no condition, beside those that begin with x-ignore-, and checksums of the
   * file, with which a sender can only make the upload fail.
   */
  private static final Set<String> UNCONDITIONAL =
      Set.of("policy", "awsaccesskeyid", "signature", "x-amz-signature");

  /** A backslash with what follows it: policies escape dollar signs, which JSON does not know. */
  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)", Pattern.DOTALL);

  /** Of a size: more is behind any object. */
  private static final int DIGITS_MAX = 18;

  sealed interface Condition {}

  /** A field has this value. */
  record Equal(String field, String value) implements Condition {}

  /** A field begins with this. */
  record StartsWith(String field, String prefix) implements Condition {}

  /** The file is not smaller and not larger. */
  record Size(long min, long max) implements Condition {}

  /**
   * @param base64 the value of the field {@code policy}
   * @throws S3Exception InvalidPolicyDocument
   */
  public static PostPolicy parse(String base64) throws S3Exception {
    try {
      String document = DocumentReader.decode(Base64.getMimeDecoder().decode(base64));
      Matcher escapes = ESCAPE.matcher(document);
      String json =
          escapes.replaceAll(
              escape ->
                  Matcher.quoteReplacement(escape.group(1).equals("$") ? "$" : escape.group()));
      Element.Members policy = DocumentReader.read(json).members();
      policy.requireOnly(Set.of("expiration", "conditions"));
      return new PostPolicy(expiration(policy), conditions(policy));
    } catch (MalformedPolicyException e) {
      throw invalid(e.reason());
    } catch (IllegalArgumentException e) {
      throw invalid("it is not encoded in Base64");
    }
  }

  private static S3Exception invalid(String reason) {
    return new S3Exception(S3Error.INVALID_POLICY_DOCUMENT, "Invalid Policy: " + reason);
  }

  private static Instant expiration(Element.Members policy)
      throws S3Exception, MalformedPolicyException {
    Element expiration = policy.get("expiration");
    if (expiration == null) {
      throw invalid("Policy missing expiration.");
    }
    try {
      return Instant.parse(expiration.string().text());
    } catch (DateTimeException e) {
      throw invalid("Invalid 'expiration' value.");
    }
  }

  private static List<Condition> conditions(Element.Members policy)
      throws S3Exception, MalformedPolicyException {
    if (!(policy.get("conditions") instanceof Element.Items items)) {
      throw invalid("Policy missing conditions.");
    }
    List<Condition> conditions = new ArrayList<>();
    for (Element item : items.elements()) {
      conditions.add(
          item instanceof Element.Items list
              ? condition(list.elements())
              : simple(item.members().byName()));
    }
    return conditions;
  }

  private static Condition simple(Map<String, Element> property)
      throws S3Exception, MalformedPolicyException {
    if (property.size() != 1) {
      throw invalid(
          "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.");
    }
    Map.Entry<String, Element> only = property.entrySet().iterator().next();
    return new Equal(lower(only.getKey()), only.getValue().scalar().text());
  }

  private static Condition condition(List<Element> parts)
      throws S3Exception, MalformedPolicyException {
    if (parts.size() != 3) {
      throw invalid("Invalid Condition: it must have three parts.");
    }
    String operator = lower(parts.get(0).string().text());
    String value = parts.get(2).scalar().text();
    return switch (operator) {
      case "eq" -> new Equal(field(parts.get(1)), value);
      case "starts-with" -> new StartsWith(field(parts.get(1)), value);
      case "content-length-range" -> new Size(size(parts.get(1).scalar().text()), size(value));
      default -> throw invalid("Invalid Condition: unknown operation " + Element.quote(operator));
    };
  }

  private static String field(Element name) throws S3Exception, MalformedPolicyException {
    String text = name.string().text();
    if (!text.startsWith("$")) {
      throw invalid("Invalid Condition: the name of a field has to begin with a dollar sign.");
    }
    return lower(text.substring(1));
  }

  private static long size(String text) throws S3Exception {
    if (!text.matches("[0-9]{1," + DIGITS_MAX + "}")) {
      throw invalid("Invalid content-length-range.");
    }
    return Long.parseLong(text);
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  /**
   * Requires that it allows the form, and bounds the size of the file.
   *
   * @throws S3Exception AccessDenied
   */
  public void require(PostForm form, Instant now) throws S3Exception {
    if (!now.isBefore(expiration)) {
      throw denied("Policy expired.");
    }
    Set<String> covered = new HashSet<>();
    for (Condition condition : conditions) {
      switch (condition) {
        case Equal(String field, String value) -> {
          covered.add(field);
          requireMet(value.equals(value(form, field)), "eq", field, value);
        }
        case StartsWith(String field, String prefix) -> {
          covered.add(field);
          requireMet(begins(field, value(form, field), prefix), "starts-with", field, prefix);
        }
        case Size(long min, long max) -> form.body().bound(min, max);
      }
    }
    List<String> others =
        Stream.concat(Stream.of(BUCKET), form.fieldNames().stream())
            .distinct()
            .filter(name -> !covered.contains(name))
            .filter(name -> !isUnconditional(name))
            .toList();
    if (!others.isEmpty()) {
      throw denied("Extra input fields: " + String.join(", ", others));
    }
  }

  private static boolean isUnconditional(String name) {
    return UNCONDITIONAL.contains(name)
        || name.startsWith("x-ignore-")
        || ChecksumKind.ofHeader(name) != null;
  }

  /** The bucket is the one to which the form is posted, whatever a field says. */
  private static @Nullable String value(PostForm form, String field) {
    return field.equals(BUCKET) ? form.bucket() : form.field(field);
  }

  /**
   * A Content-Type may be a list, each of whose values has to begin so. A field that may have any
   * value may be absent, too.
   */
  private static boolean begins(String field, @Nullable String value, String prefix) {
    if (value == null) {
      return prefix.isEmpty();
    }
    return field.equals("content-type")
        ? Stream.of(value.split(",", -1)).allMatch(each -> each.strip().startsWith(prefix))
        : value.startsWith(prefix);
  }

  private static void requireMet(boolean isMet, String operator, String field, String value)
      throws S3Exception {
    if (!isMet) {
      throw denied(
          "Policy Condition failed: [\"%s\", \"$%s\", %s]"
              .formatted(operator, field, Element.quote(value)));
    }
  }

  private static S3Exception denied(String reason) {
    return new S3Exception(S3Error.ACCESS_DENIED, FORM + reason).deniedBy(Denial.OPERATION);
  }
}
