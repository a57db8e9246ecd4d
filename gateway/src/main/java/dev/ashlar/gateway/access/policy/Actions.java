package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.Element.Scalar;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.WildcardPattern;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The Action or NotAction element of a statement. */
final class Actions {
  /** A service without wildcards and the name of an action with them; * and *:* are all. */
  private static final Pattern FORM =
      Pattern.compile("\\*|\\*:\\*|([a-z0-9-]{1,64}+):([a-z0-9*?]{1,128}+)");

  private final boolean isNegated;
  private final Set<String> names = new HashSet<>();
  private final List<WildcardPattern> patterns = new ArrayList<>();

  private Actions(boolean isNegated) {
    this.isNegated = isNegated;
  }

  static Actions parse(Element element, boolean isNegated, PolicyKind kind)
      throws MalformedPolicyException {
    Actions actions = new Actions(isNegated);
    for (Scalar value : element.strings()) {
      actions.add(value, kind.services());
    }
    return actions;
  }

  private void add(Scalar value, Set<String> services) throws MalformedPolicyException {
    String action = value.text().toLowerCase(Locale.ROOT);
    if (!FORM.matcher(action).matches()) {
      throw value.malformedValue("is not an action such as s3:GetObject");
    }
    if (action.startsWith("*")) {
      patterns.add(WildcardPattern.of("*"));
      return;
    }
    String service = action.substring(0, action.indexOf(':'));
    if (!services.isEmpty() && !services.contains(service)) {
      throw value.malformedValue("is an action of a service that this policy cannot be about");
    }
    String name = action.substring(service.length() + 1);
    boolean isPattern = name.indexOf('*') >= 0 || name.indexOf('?') >= 0;
    if (KnownActions.isKnownService(service) && !isKnown(service, name, isPattern)) {
      throw value.malformedValue("is not an action of " + service);
    }
    if (isPattern) {
      patterns.add(WildcardPattern.of(action));
    } else {
      names.add(action);
    }
  }

  private static boolean isKnown(String service, String name, boolean isPattern) {
    return isPattern
        ? KnownActions.anyMatches(service, WildcardPattern.of(name))
        : KnownActions.contains(service, name);
  }

  boolean covers(AccessRequest request) {
    CodePoints action = request.action();
    return isNegated != (names.contains(action.text()) || matchesAny(action));
  }

  private boolean matchesAny(CodePoints text) {
    for (WildcardPattern pattern : patterns) {
      if (pattern.matches(text)) {
        return true;
      }
    }
    return false;
  }
}
