package dev.ashlar.gateway.error;

import java.util.Locale;

/** Why a request was denied, as the audit log has it. */
public enum Denial {
  /** The signature, the access key or the token does not prove who sends the request. */
  AUTHENTICATION,

  /** The address of the sender has failed to authenticate too often. */
  ATTEMPTS,

  /** A statement that denies, in a policy of the user, of one of its groups, or of the role. */
  IDENTITY,

  /** A statement that denies, in a policy of the session. */
  SESSION,

  /** A statement that denies, in the policy of the bucket. */
  BUCKET,

  /** A statement that denies, in the trust policy of the role. */
  TRUST,

  /** The public access block closes the bucket to other accounts. */
  BLOCK,

  /** No statement and no ACL allows it. */
  NONE,

  /** The bucket belongs to another account than the request expects. */
  OWNER,

  /** The requester has to pay, and does not agree to. */
  PAYER,

  /** The version is locked. */
  LOCK,

  /** A rule of the operation itself. */
  OPERATION;

  /** In one word, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
