package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import java.util.ArrayList;
import java.util.List;

/** Makes policies of stored documents, which were checked when they were put. */
public final class StoredPolicies {
  /** The largest kind of document on the side of an identity. */
  private static final PolicyKind ANY = PolicyKind.identity(PolicyKind.ROLE_CHARACTERS_MAX);

  private static final Policy DENY_ALL = denyAll();

  private StoredPolicies() {}

  /** All policies that count for an identity: inline, attached and built in, its groups' too. */
  public static List<Policy> of(PrincipalAnswer answer) {
    List<Policy> policies = new ArrayList<>();
    if (answer.hasIdentity()) {
      add(policies, answer.getIdentity());
      answer.getGroupsList().forEach(group -> add(policies, group));
    }
    for (IdentityRow managed : answer.getPoliciesList()) {
      managed.getDocumentsList().stream()
          .filter(document -> document.getName().equals(managed.getDefaultVersion()))
          .forEach(document -> policies.add(parse(document.getText())));
    }
    return policies;
  }

  private static void add(List<Policy> policies, IdentityRow identity) {
    for (IdentityDocument inline : identity.getDocumentsList()) {
      policies.add(parse(inline.getText()));
    }
    for (String name : identity.getBuiltInPoliciesList()) {
      BuiltInPolicies.named(name).ifPresent(builtIn -> policies.add(parse(builtIn.document())));
    }
  }

  /** A document that cannot be read, such as one of a later build, denies everything. */
  static Policy parse(String document) {
    try {
      return Policy.parse(document, ANY);
    } catch (MalformedPolicyException e) {
      return DENY_ALL;
    }
  }

  private static Policy denyAll() {
    try {
      return Policy.parse(
          "{\"Statement\":[{\"Effect\":\"Deny\",\"Action\":\"*\",\"Resource\":\"*\"}]}", ANY);
    } catch (MalformedPolicyException e) {
      throw new IllegalStateException(e);
    }
  }
}
