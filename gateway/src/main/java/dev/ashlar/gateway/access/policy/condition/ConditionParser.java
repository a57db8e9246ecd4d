package dev.ashlar.gateway.access.policy.condition;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.Element.Scalar;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.ArnPattern;
import dev.ashlar.gateway.access.policy.value.Template;
import dev.ashlar.gateway.encryption.key.KmsKeyArn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the Condition element of a statement. */
public final class ConditionParser {
  private static final String IF_EXISTS = "IfExists";
  private static final String KMS_KEY = "s3:x-amz-server-side-encryption-aws-kms-key-id";

  /** A prefix, a colon, a name, such as aws:SourceIp or s3:ExistingObjectTag/a key of a tag. */
  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9][^:\\p{Cntrl}]*+:[^\\p{Cntrl}]++");

  private final boolean hasVariables;

  /**
   * @param hasVariables whether the version of the policy has variables
   */
  public ConditionParser(boolean hasVariables) {
    this.hasVariables = hasVariables;
  }

  public List<Condition> parse(Element element) throws MalformedPolicyException {
    List<Condition> conditions = new ArrayList<>();
    for (Map.Entry<String, Element> member : element.members().byName().entrySet()) {
      parse(element, member.getKey(), member.getValue().members(), conditions);
    }
    return conditions;
  }

  private void parse(
      Element parent, String operatorText, Element.Members keys, List<Condition> conditions)
      throws MalformedPolicyException {
    Quantifier quantifier = Quantifier.of(operatorText);
    String withoutPrefix = operatorText.substring(quantifier.prefix().length());
    boolean isIfExists = withoutPrefix.endsWith(IF_EXISTS);
    Operator operator =
        Operator.named(
            isIfExists
                ? withoutPrefix.substring(0, withoutPrefix.length() - IF_EXISTS.length())
                : withoutPrefix);
    boolean isBareNull = !isIfExists && quantifier == Quantifier.NONE;
    if (operator == null || (operator == Operator.NULL && !isBareNull)) {
      throw parent.malformed("has an unknown operator " + Element.quote(operatorText));
    }
    if (keys.byName().isEmpty()) {
      throw keys.malformed("must not be empty");
    }
    Set<String> seen = new HashSet<>();
    for (Map.Entry<String, Element> member : keys.byName().entrySet()) {
      String key = member.getKey().toLowerCase(Locale.ROOT);
      if (!KEY.matcher(key).matches()) {
        throw keys.malformed(Element.quote(member.getKey()) + " is not a condition key");
      }
      if (!seen.add(key)) {
        throw keys.malformed("has the key " + Element.quote(member.getKey()) + " twice");
      }
      conditions.add(
          new Condition(
              operator, quantifier, isIfExists, key, expected(operator, key, member.getValue())));
    }
  }

  private List<Expected> expected(Operator operator, String key, Element values)
      throws MalformedPolicyException {
    List<Expected> expected = new ArrayList<>();
    for (Element value : values.oneOrMore()) {
      expected.add(
          key.equals(KMS_KEY)
              ? expectedKmsKey(operator, value.scalar())
              : expected(operator, value.scalar()));
    }
    return expected;
  }

  /** Keys are compared by their ids, however they are written. */
  private Expected expectedKmsKey(Operator operator, Scalar value) throws MalformedPolicyException {
    Scalar id = new Scalar(value.location(), KmsKeyArn.id(value.text()), value.isString());
    return operator.comparison() == Operator.Comparison.ARN
        ? new Expected.TextPattern(Template.of(id, hasVariables, true))
        : expected(operator, id);
  }

  private Expected expected(Operator operator, Scalar value) throws MalformedPolicyException {
    String text = value.text();
    return switch (operator.comparison()) {
      case STRING -> new Expected.Text(Template.of(value, hasVariables, false));
      case STRING_IGNORING_CASE ->
          new Expected.TextIgnoringCase(Template.of(value, hasVariables, false));
      case STRING_PATTERN -> new Expected.TextPattern(Template.of(value, hasVariables, true));
      case ARN -> new Expected.Arn(ArnPattern.of(value, hasVariables));
      case NUMBER ->
          new Expected.Numeric(
              require(Numbers.parse(text), value, "is not a number"), operator.order());
      case DATE ->
          new Expected.Date(require(Dates.parse(text), value, "is not a date"), operator.order());
      case BOOLEAN, ABSENCE -> new Expected.Bool(bool(value));
      case BINARY -> new Expected.Binary(require(Binaries.parse(text), value, "is not Base64"));
      case IP_RANGE ->
          new Expected.IpRange(
              require(IpAddressRange.parse(text), value, "is not an IP address or CIDR range"));
    };
  }

  private static boolean bool(Scalar value) throws MalformedPolicyException {
    String text = value.text();
    if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
      throw value.malformedValue("is neither true nor false");
    }
    return text.equalsIgnoreCase("true");
  }

  private static <T> T require(Optional<T> parsed, Scalar value, String reason)
      throws MalformedPolicyException {
    if (parsed.isEmpty()) {
      throw value.malformedValue(reason);
    }
    return parsed.get();
  }
}
