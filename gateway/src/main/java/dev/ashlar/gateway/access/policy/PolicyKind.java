package dev.ashlar.gateway.access.policy;

import java.util.Set;

/** What a policy is attached to. This decides which elements it has and how large it can be. */
public sealed interface PolicyKind {
  int BUCKET_BYTES_MAX = 20_480;
  int SESSION_CHARACTERS_MAX = 2_048;
  int MANAGED_CHARACTERS_MAX = 6_144;
  int USER_CHARACTERS_MAX = 2_048;
  int GROUP_CHARACTERS_MAX = 5_120;
  int ROLE_CHARACTERS_MAX = 10_240;
  int TRUST_CHARACTERS_MAX = 2_048;

  /**
   * A policy of a bucket: it has principals, and its resources are the bucket and its objects. The
   * whole document counts, in bytes.
   */
  record Bucket(String bucket) implements PolicyKind {}

  /**
   * A policy of a user, group or role, inline or managed: it has no principal.
   *
   * @param charactersMax without white space, which IAM does not count
   */
  record Identity(int charactersMax) implements PolicyKind {}

  /** A policy that limits a session; white space counts. */
  record Session() implements PolicyKind {}

  /**
   * A policy that says who may assume a role: it has principals and no resource.
   *
   * @param charactersMax without white space
   */
  record Trust(int charactersMax) implements PolicyKind {}

  static PolicyKind bucket(String bucket) {
    return new Bucket(bucket);
  }

  static PolicyKind identity(int charactersMax) {
    return new Identity(charactersMax);
  }

  static PolicyKind session() {
    return new Session();
  }

  static PolicyKind trust() {
    return new Trust(TRUST_CHARACTERS_MAX);
  }

  /** Policies that are attached to what they protect name who may use it. */
  default boolean hasPrincipals() {
    return this instanceof Bucket || this instanceof Trust;
  }

  default boolean hasResources() {
    return !(this instanceof Trust);
  }

  /** The services whose actions are useful in this kind; empty if that is not restricted. */
  default Set<String> services() {
    return switch (this) {
      case Bucket b -> Set.of("s3");
      case Trust t -> Set.of("sts");
      case Identity i -> Set.of();
      case Session s -> Set.of();
    };
  }
}
