package dev.ashlar.gateway.principal;

import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of identities: arn:aws:iam::ACCOUNT:KIND/PATH/NAME. */
public final class Arns {
  private static final Pattern IDENTITY =
      Pattern.compile(
          "arn:aws:iam::([0-9]{12}):(user|group|role|policy)((?:/[!-.0-~]*)*/)"
              + "([A-Za-z0-9_+=,.@-]{1,128})");

  private Arns() {}

  /** What an ARN of an identity says. */
  public record Name(String account, IdentityKind kind, String path, String name) {}

  /** Empty if the text is no ARN of a user, group, role or managed policy. */
  public static Optional<Name> parse(String arn) {
    Matcher matcher = IDENTITY.matcher(arn);
    if (arn.length() > 2048 || !matcher.matches()) {
      return Optional.empty();
    }
    IdentityKind kind =
        switch (matcher.group(2)) {
          case "user" -> IdentityKind.IDENTITY_USER;
          case "group" -> IdentityKind.IDENTITY_GROUP;
          case "role" -> IdentityKind.IDENTITY_ROLE;
          default -> IdentityKind.IDENTITY_POLICY;
        };
    return Optional.of(new Name(matcher.group(1), kind, matcher.group(3), matcher.group(4)));
  }

  public static String of(IdentityRow row) {
    return of(row.getAccount(), row.getKind(), row.getPath(), row.getName());
  }

  /**
   * @param path begins and ends with a slash
   */
  public static String of(String account, IdentityKind kind, String path, String name) {
    return "arn:aws:iam::" + account + ":" + word(kind) + path + name;
  }

  public static String ofRoot(String account) {
    return "arn:aws:iam::" + account + ":root";
  }

  /** The ARN of a role's session. */
  public static String ofSession(IdentityRow role, String sessionName) {
    return "arn:aws:sts::"
        + role.getAccount()
        + ":assumed-role/"
        + role.getName()
        + "/"
        + sessionName;
  }

  private static String word(IdentityKind kind) {
    return switch (kind) {
      case IDENTITY_USER -> "user";
      case IDENTITY_GROUP -> "group";
      case IDENTITY_ROLE -> "role";
      case IDENTITY_POLICY -> "policy";
      case IDENTITY_PROVIDER -> "oidc-provider";
      case IDENTITY_NONE, UNRECOGNIZED ->
          throw new IllegalArgumentException("identities of kind " + kind + " have no ARN");
    };
  }
}
