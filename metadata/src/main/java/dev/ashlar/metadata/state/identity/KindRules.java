package dev.ashlar.metadata.state.identity;

import dev.ashlar.protocol.message.AccountStateRow;
import dev.ashlar.protocol.message.IdentityKind;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of identities: the letter of their table and their limits, which are those of IAM. */
enum KindRules {
  USER(IdentityKind.IDENTITY_USER, 'U', 5000, 64, 2048),
  GROUP(IdentityKind.IDENTITY_GROUP, 'G', 300, 128, 5120),
  ROLE(IdentityKind.IDENTITY_ROLE, 'R', 1000, 64, 10_240),
  POLICY(IdentityKind.IDENTITY_POLICY, 'P', 1500, 128, 6144),
  PROVIDER(IdentityKind.IDENTITY_PROVIDER, 'O', 100, 255, 0);

  private static final Map<IdentityKind, KindRules> BY_KIND =
      Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(r -> r.kind, r -> r));

  private final IdentityKind kind;
  private final char letter;
  private final int perAccountMax;
  private final int nameCharsMax;
  private final int documentCharsMax;

  KindRules(
      IdentityKind kind, char letter, int perAccountMax, int nameCharsMax, int documentCharsMax) {
    this.kind = kind;
    this.letter = letter;
    this.perAccountMax = perAccountMax;
    this.nameCharsMax = nameCharsMax;
    this.documentCharsMax = documentCharsMax;
  }

  /** Empty for a kind that this build does not know. */
  static Optional<KindRules> of(IdentityKind kind) {
    return Optional.ofNullable(BY_KIND.get(kind));
  }

  /** Of a row that apply has checked. */
  static KindRules known(IdentityKind kind) {
    return of(kind).orElseThrow(() -> new IllegalStateException("an identity of kind " + kind));
  }

  IdentityKind kind() {
    return kind;
  }

  char letter() {
    return letter;
  }

  int perAccountMax() {
    return perAccountMax;
  }

  int nameCharsMax() {
    return nameCharsMax;
  }

  /** Of all inline policies together, or of one version of a managed policy. */
  int documentCharsMax() {
    return documentCharsMax;
  }

  /** Whether policies can be attached to it. */
  boolean takesPolicies() {
    return this == USER || this == GROUP || this == ROLE;
  }

  int count(AccountStateRow state) {
    return switch (this) {
      case USER -> state.getUsers();
      case GROUP -> state.getGroups();
      case ROLE -> state.getRoles();
      case POLICY -> state.getPolicies();
      case PROVIDER -> state.getProviders();
    };
  }

  /** Sets the number of identities of this kind. */
  void setCount(AccountStateRow.Builder state, int count) {
    switch (this) {
      case USER -> state.setUsers(count);
      case GROUP -> state.setGroups(count);
      case ROLE -> state.setRoles(count);
      case POLICY -> state.setPolicies(count);
      case PROVIDER -> state.setProviders(count);
    }
  }
}
