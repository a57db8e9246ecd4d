package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.condition.Condition;
import dev.ashlar.gateway.access.policy.condition.ConditionParser;
import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.Element.Members;
import dev.ashlar.gateway.access.policy.document.Element.Scalar;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks a document and makes statements of it. */
final class PolicyParser {
  private static final Set<String> POLICY_ELEMENTS = Set.of("Version", "Id", "Statement");
  private static final Set<String> STATEMENT_ELEMENTS =
      Set.of(
          "Sid",
          "Effect",
          "Principal",
          "NotPrincipal",
          "Action",
          "NotAction",
          "Resource",
          "NotResource",
          "Condition");
  private static final String VERSION_WITH_VARIABLES = "2012-10-17";
  private static final String VERSION_WITHOUT_VARIABLES = "2008-10-17";

  /** IAM's form of a Sid; S3 allows any text in bucket policies. */
  private static final Pattern IAM_SID = Pattern.compile("[A-Za-z0-9]*");

  private final PolicyKind kind;
  private final Set<String> sids = new HashSet<>();
  private boolean hasVariables;

  PolicyParser(PolicyKind kind) {
    this.kind = kind;
  }

  List<Statement> parse(Element document) throws MalformedPolicyException {
    Members policy = document.members();
    policy.requireOnly(POLICY_ELEMENTS);
    hasVariables = hasVariables(policy.get("Version"));
    Element id = policy.get("Id");
    if (id != null) {
      id.string();
    }
    List<Statement> statements = new ArrayList<>();
    for (Element statement : required(policy, "Statement").oneOrMore()) {
      statements.add(statement(statement.members()));
    }
    return statements;
  }

  private static boolean hasVariables(@Nullable Element element) throws MalformedPolicyException {
    if (element == null) {
      return false;
    }
    Scalar version = element.string();
    return switch (version.text()) {
      case VERSION_WITH_VARIABLES -> true;
      case VERSION_WITHOUT_VARIABLES -> false;
      default -> throw version.malformedValue("is not a version of the policy language");
    };
  }

  private Statement statement(Members statement) throws MalformedPolicyException {
    statement.requireOnly(STATEMENT_ELEMENTS);
    checkSid(statement.get("Sid"));
    Element conditions = statement.get("Condition");
    boolean isAllowing = isAllowing(required(statement, "Effect").string());
    return new Statement(
        isAllowing,
        principals(statement, isAllowing),
        actions(statement),
        resources(statement),
        conditions == null ? List.of() : conditions(conditions));
  }

  private void checkSid(@Nullable Element element) throws MalformedPolicyException {
    if (element == null) {
      return;
    }
    Scalar sid = element.string();
    boolean isFree = kind instanceof PolicyKind.Bucket;
    if (!isFree && !IAM_SID.matcher(sid.text()).matches()) {
      throw sid.malformedValue("has other characters than letters and digits");
    }
    if (!sid.text().isEmpty() && !sids.add(sid.text())) {
      throw sid.malformedValue("is the Sid of another statement, too");
    }
  }

  private static boolean isAllowing(Scalar effect) throws MalformedPolicyException {
    return switch (effect.text()) {
      case "Allow" -> true;
      case "Deny" -> false;
      default -> throw effect.malformedValue("is neither Allow nor Deny");
    };
  }

  private @Nullable Principals principals(Members statement, boolean isAllowing)
      throws MalformedPolicyException {
    if (!kind.hasPrincipals()) {
      refuse(statement, "Principal");
      refuse(statement, "NotPrincipal");
      return null;
    }
    if (kind instanceof PolicyKind.Trust) {
      refuse(statement, "NotPrincipal");
    }
    boolean isNegated = isNegated(statement, "Principal", "NotPrincipal");
    return Principals.parse(
        required(statement, isNegated ? "NotPrincipal" : "Principal"),
        isNegated,
        kind,
        isAllowing && !isNegated && kind instanceof PolicyKind.Bucket);
  }

  private Actions actions(Members statement) throws MalformedPolicyException {
    boolean isNegated = isNegated(statement, "Action", "NotAction");
    return Actions.parse(required(statement, isNegated ? "NotAction" : "Action"), isNegated, kind);
  }

  private @Nullable Resources resources(Members statement) throws MalformedPolicyException {
    if (!kind.hasResources()) {
      refuse(statement, "Resource");
      refuse(statement, "NotResource");
      return null;
    }
    boolean isNegated = isNegated(statement, "Resource", "NotResource");
    return Resources.parse(
        required(statement, isNegated ? "NotResource" : "Resource"), isNegated, kind, hasVariables);
  }

  private List<Condition> conditions(Element element) throws MalformedPolicyException {
    return new ConditionParser(hasVariables).parse(element);
  }

  private static boolean isNegated(Members statement, String name, String negatedName)
      throws MalformedPolicyException {
    boolean isNegated = statement.get(negatedName) != null;
    if (isNegated && statement.get(name) != null) {
      throw statement.malformed("has both " + name + " and " + negatedName);
    }
    return isNegated;
  }

  private void refuse(Members statement, String name) throws MalformedPolicyException {
    Element element = statement.get(name);
    if (element != null) {
      throw element.malformed("is not an element of this kind of policy");
    }
  }

  private static Element required(Members members, String name) throws MalformedPolicyException {
    Element element = members.get(name);
    if (element == null) {
      throw members.malformed("has no " + name);
    }
    return element;
  }
}
