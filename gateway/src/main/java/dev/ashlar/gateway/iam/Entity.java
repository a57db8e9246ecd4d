package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.protocol.message.IdentityKind;
import java.util.Locale;

/** The kinds of identities that IAM's actions are about. */
enum Entity {
  USER(IdentityKind.IDENTITY_USER, "User", "AIDA", 64, PolicyKind.USER_CHARACTERS_MAX),
  GROUP(IdentityKind.IDENTITY_GROUP, "Group", "AGPA", 128, PolicyKind.GROUP_CHARACTERS_MAX),
  ROLE(IdentityKind.IDENTITY_ROLE, "Role", "AROA", 64, PolicyKind.ROLE_CHARACTERS_MAX),
  POLICY(IdentityKind.IDENTITY_POLICY, "Policy", "ANPA", 128, PolicyKind.MANAGED_CHARACTERS_MAX),

  /** An OpenID Connect provider; named by its URL. */
  PROVIDER(IdentityKind.IDENTITY_PROVIDER, "OpenIDConnectProvider", "AOCP", 255, 0);

  private final IdentityKind kind;
  private final String title;
  private final String idPrefix;
  private final int nameCharsMax;
  private final int policyCharsMax;

  Entity(IdentityKind kind, String title, String idPrefix, int nameCharsMax, int policyCharsMax) {
    this.kind = kind;
    this.title = title;
    this.idPrefix = idPrefix;
    this.nameCharsMax = nameCharsMax;
    this.policyCharsMax = policyCharsMax;
  }

  static Entity of(IdentityKind kind) {
    for (Entity entity : values()) {
      if (entity.kind == kind) {
        return entity;
      }
    }
    throw new IllegalArgumentException("IAM has no actions for identities of kind " + kind);
  }

  IdentityKind kind() {
    return kind;
  }

  /** As in names of actions, parameters and elements. */
  String title() {
    return title;
  }

  /** The parameter with the name, such as UserName. */
  String nameParameter() {
    return title + "Name";
  }

  String noun() {
    return title.toLowerCase(Locale.ROOT);
  }

  /** What its unique ids begin with. */
  String idPrefix() {
    return idPrefix;
  }

  int nameCharsMax() {
    return nameCharsMax;
  }

  /** Of its inline policies together, or of a version of a managed policy; without white space. */
  int policyCharsMax() {
    return policyCharsMax;
  }
}
