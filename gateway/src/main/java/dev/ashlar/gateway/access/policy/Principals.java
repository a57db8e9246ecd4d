package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.Element.Scalar;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Principal or NotPrincipal element of a statement. */
final class Principals {
  /** Whom a statement is about, seen from one caller. */
  enum Match {
    NONE,

    /** The account of the caller, but not the caller by name. */
    ACCOUNT,

    /** The caller, or everybody. */
    CALLER
  }

  private static final String NAME = "[A-Za-z0-9_+=,.@-]";
  private static final String PATH = "(?:[!-)+->@-~]{1,510}/)?";
  private static final Pattern ACCOUNT = Pattern.compile("(?:arn:aws:iam::)?([0-9]{12})(?::root)?");

  /** An account as radosgw names them, which is none here: nobody is meant. */
  private static final Pattern FOREIGN_ACCOUNT =
      Pattern.compile("arn:aws:iam::[A-Za-z][A-Za-z0-9_.-]{0,63}:root");

  private static final Pattern NAMED =
      Pattern.compile(
          "arn:aws:(?:iam::[0-9]{12}:(?:user|role)/"
              + PATH
              + NAME
              + "{1,64}"
              + "|sts::[0-9]{12}:assumed-role/"
              + NAME
              + "{1,64}/"
              + NAME
              + "{2,64})");
  private static final Pattern CANONICAL_ID = Pattern.compile("[0-9A-Za-z_-]{1,128}");
  private static final Pattern SERVICE =
      Pattern.compile("[a-z0-9-]{1,64}(?:\\.[a-z0-9-]{1,64}){1,8}");
  private static final Pattern PROVIDER = Pattern.compile("[!-)+->@-~]{1,512}");

  private final boolean isNegated;
  private final boolean mayBeForeign;
  private boolean isEverybody;
  private final Set<String> accountIds = new HashSet<>();
  private final Set<String> canonicalIds = new HashSet<>();
  private final Set<String> arns = new HashSet<>();
  private final Set<String> services = new HashSet<>();
  private final Set<String> providers = new HashSet<>();

  private Principals(boolean isNegated, boolean mayBeForeign) {
    this.isNegated = isNegated;
    this.mayBeForeign = mayBeForeign;
  }

  /**
   * @param mayBeForeign whether accounts may be named that cannot exist here. Such a name matches
   *     no caller. That is safe in a Principal that allows, because nobody gets a right. In a
   *     denial it would deny nothing, and in a NotPrincipal it would exclude nobody.
   */
  static Principals parse(Element element, boolean isNegated, PolicyKind kind, boolean mayBeForeign)
      throws MalformedPolicyException {
    Principals principals = new Principals(isNegated, mayBeForeign);
    if (element instanceof Scalar scalar) {
      if (!scalar.isString() || !scalar.text().equals("*")) {
        throw scalar.malformedValue("is not a principal: * or an object is expected");
      }
      principals.isEverybody = true;
      return principals;
    }
    Element.Members members = element.members();
    if (members.byName().isEmpty()) {
      throw members.malformed("must not be empty");
    }
    for (Map.Entry<String, Element> member : members.byName().entrySet()) {
      for (Scalar value : member.getValue().strings()) {
        principals.add(members, member.getKey(), value, kind);
      }
    }
    return principals;
  }

  private void add(Element parent, String type, Scalar value, PolicyKind kind)
      throws MalformedPolicyException {
    switch (type) {
      case "AWS" -> addAws(value);
      case "CanonicalUser" -> canonicalIds.add(require(CANONICAL_ID, value, "is no canonical id"));
      case "Service" -> services.add(require(SERVICE, value, "is no name of a service"));
      case "Federated" -> {
        if (!(kind instanceof PolicyKind.Trust)) {
          throw value.malformed("is supported in trust policies only");
        }
        providers.add(require(PROVIDER, value, "is no identity provider"));
      }
      default -> throw parent.malformed("has an unknown kind of principal " + Element.quote(type));
    }
  }

  private void addAws(Scalar value) throws MalformedPolicyException {
    Matcher account = ACCOUNT.matcher(value.text());
    if (value.text().equals("*")) {
      isEverybody = true;
    } else if (account.matches() && isIdOrRootArn(value.text())) {
      accountIds.add(account.group(1));
    } else if (!mayBeForeign || !FOREIGN_ACCOUNT.matcher(value.text()).matches()) {
      arns.add(
          require(NAMED, value, "is neither * nor an account, user, role or session of a role"));
    }
  }

  private static boolean isIdOrRootArn(String text) {
    return text.startsWith("arn:") == text.endsWith(":root");
  }

  private static String require(Pattern form, Scalar value, String reason)
      throws MalformedPolicyException {
    if (!form.matcher(value.text()).matches()) {
      throw value.malformedValue(reason);
    }
    return value.text();
  }

  /** Whether anybody at all can match. */
  boolean isWildcard() {
    return isEverybody || isNegated;
  }

  Match match(Requester requester) {
    Match listed = isEverybody ? Match.CALLER : matchListed(requester);
    if (!isNegated) {
      return listed;
    }
    return listed == Match.NONE ? Match.CALLER : Match.NONE;
  }

  private Match matchListed(Requester requester) {
    return switch (requester) {
      case Requester.Anonymous a -> Match.NONE;
      case Requester.Root root -> account(root);
      case Requester.User user -> arns.contains(user.arn()) ? Match.CALLER : account(user);
      case Requester.RoleSession session ->
          arns.contains(session.sessionArn()) || arns.contains(session.roleArn())
              ? Match.CALLER
              : account(session);
      case Requester.Service service -> caller(services.contains(service.name()));
      case Requester.Federated federated -> caller(providers.contains(federated.provider()));
    };
  }

  private Match account(Requester.Identity identity) {
    boolean isListed =
        accountIds.contains(identity.accountId()) || canonicalIds.contains(identity.canonicalId());
    return isListed ? Match.ACCOUNT : Match.NONE;
  }

  private static Match caller(boolean isListed) {
    return isListed ? Match.CALLER : Match.NONE;
  }
}
