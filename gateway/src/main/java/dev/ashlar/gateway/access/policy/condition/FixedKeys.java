package dev.ashlar.gateway.access.policy.condition;

import dev.ashlar.gateway.access.policy.value.Template;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * S3's rule for conditions that make a grant to everybody non-public: they fix one of certain keys
 * to values without wildcards and variables. See "The meaning of public" in the S3 user guide.
 */
public final class FixedKeys {
  private static final String SOURCE_IP = "aws:sourceip";
  private static final String ACCESS_POINT_ARN = "s3:dataaccesspointarn";
  private static final int V4_PREFIX_BITS_MIN = 8;
  private static final int V6_PREFIX_BITS_MIN = 32;

  private static final Set<String> KEYS =
      Set.of(
          "aws:principalaccount",
          "aws:principalarn",
          "aws:principalorgid",
          "aws:principalorgpaths",
          "aws:sourceaccount",
          "aws:sourcearn",
          "aws:sourceorgid",
          "aws:sourceorgpaths",
          "aws:sourceowner",
          "aws:sourcevpc",
          "aws:sourcevpcarn",
          "aws:sourcevpce",
          "aws:userid",
          "aws:vpceaccount",
          "aws:vpceorgid",
          "s3:dataaccesspointaccount",
          "s3:x-amz-server-side-encryption-aws-kms-key-id");

  /** Any access point of one account: the name alone may be a wildcard. */
  private static final Pattern ACCESS_POINTS_OF_ACCOUNT =
      Pattern.compile("arn:aws:s3:[^:*?$]*:[0-9]{12}:accesspoint/.*", Pattern.DOTALL);

  private static final Pattern WILDCARD_OR_VARIABLE = Pattern.compile("[*?]|\\$\\{");

  private FixedKeys() {}

  public static boolean isFixing(Condition condition) {
    return condition.requiresKey()
        && condition.expected().stream().allMatch(value -> isFixed(condition.key(), value));
  }

  private static boolean isFixed(String key, Expected value) {
    return switch (value) {
      case Expected.Text text -> isFixedText(key, text.template());
      case Expected.TextIgnoringCase text -> isFixedText(key, text.template());
      case Expected.TextPattern text -> isFixedText(key, text.template());
      case Expected.Arn arn -> isFixedText(key, arn.pattern().template());
      case Expected.IpRange range -> key.equals(SOURCE_IP) && isNarrow(range.range());
      case Expected.Numeric n -> false;
      case Expected.Date d -> false;
      case Expected.Bool b -> false;
      case Expected.Binary b -> false;
    };
  }

  private static boolean isFixedText(String key, Template template) {
    if (key.equals(ACCESS_POINT_ARN)) {
      return ACCESS_POINTS_OF_ACCOUNT.matcher(template.text()).matches();
    }
    return KEYS.contains(key) && !WILDCARD_OR_VARIABLE.matcher(template.text()).find();
  }

  private static boolean isNarrow(IpAddressRange range) {
    return range.prefixBits() >= (range.isV4() ? V4_PREFIX_BITS_MIN : V6_PREFIX_BITS_MIN);
  }
}
