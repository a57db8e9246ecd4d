package dev.ashlar.server.account;

import java.util.regex.Pattern;

/**
 * An account that an operator wants, with an access key of its root user. Only valid values.
 *
 * @param id 12 digits
 * @param email empty: none
 * @param canonicalId 64 hexadecimal digits; empty: the server derives it from the id
 */
public record AccountSpec(
    String id, String name, String email, String canonicalId, String accessKey, String secretKey) {
  private static final Pattern ID = Pattern.compile("[0-9]{12}");
  private static final Pattern CANONICAL_ID = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern PRINTABLE = Pattern.compile("[ -~]{1,128}");
  private static final Pattern EMAIL = Pattern.compile("[!-?A-~]+@[!-~]+");
  private static final Pattern ACCESS_KEY = Pattern.compile("[!-~&&[^/,=]]{3,128}");
  private static final int EMAIL_CHARS_MAX = 254;
  private static final int SECRET_CHARS_MIN = 8;
  private static final int SECRET_CHARS_MAX = 256;

  /**
   * @throws IllegalArgumentException names the field, never the secret
   */
  public AccountSpec {
    require(ID.matcher(id).matches(), "id: 12 digits are expected, not \"" + id + "\"");
    require(
        PRINTABLE.matcher(name).matches() && !name.isBlank(),
        "name: 1 to 128 printable ASCII characters are expected");
    require(
        email.isEmpty() || (email.length() <= EMAIL_CHARS_MAX && EMAIL.matcher(email).matches()),
        "email: \"" + email + "\" is no address");
    require(
        canonicalId.isEmpty() || CANONICAL_ID.matcher(canonicalId).matches(),
        "canonicalId: 64 hexadecimal digits in lower case are expected");
    require(
        ACCESS_KEY.matcher(accessKey).matches(),
        "accessKey: 3 to 128 visible ASCII characters are expected, none of them '/', ',' or '='");
    require(
        secretKey.length() >= SECRET_CHARS_MIN
            && secretKey.length() <= SECRET_CHARS_MAX
            && secretKey.equals(secretKey.strip()),
        "secretKey: 8 to 256 characters without blanks around them are expected");
  }

  private static void require(boolean isMet, String why) {
    if (!isMet) {
      throw new IllegalArgumentException(why);
    }
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "AccountSpec[" + id + ", " + name + "]";
  }
}
