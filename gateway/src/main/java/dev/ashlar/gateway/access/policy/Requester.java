package dev.ashlar.gateway.access.policy;

/** Who sent a request, as principals of policies know it. */
public sealed interface Requester {
  /** A request without a signature. */
  record Anonymous() implements Requester {}

  /** An identity that belongs to an account. */
  sealed interface Identity extends Requester {
    /** 12 digits. */
    String accountId();

    /** The canonical user id of the account. */
    String canonicalId();
  }

  /** The root of an account. */
  record Root(String accountId, String canonicalId) implements Identity {}

  /**
   * A user, also with a session token of its own.
   *
   * @param arn such as arn:aws:iam::123456789012:user/path/name
   */
  record User(String accountId, String canonicalId, String arn, String userId, String name)
      implements Identity {}

  /**
   * A session of a role.
   *
   * @param sessionArn such as arn:aws:sts::123456789012:assumed-role/role/session
   * @param roleArn such as arn:aws:iam::123456789012:role/path/role
   */
  record RoleSession(
      String accountId, String canonicalId, String sessionArn, String roleArn, String sessionName)
      implements Identity {}

  /** A part of the server that acts by itself, such as logging.s3.amazonaws.com. */
  record Service(String name) implements Requester {
    /** What delivers access logs; the members of the group LogDelivery of ACLs. */
    public static final Service LOG_DELIVERY = new Service("logging.s3.amazonaws.com");
  }

  /**
   * The bearer of a token of an identity provider, before a role is assumed.
   *
   * @param provider the ARN or the name of the provider, as trust policies have it
   */
  record Federated(String provider) implements Requester {}
}
