package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;

/** Checks policy documents before they are stored. */
public final class Documents {
  private Documents() {}

  /**
   * A document that can be used as this kind of policy.
   *
   * @throws QueryException MalformedPolicyDocument, which says what is wrong where
   */
  public static String checked(String document, PolicyKind kind) throws QueryException {
    parse(document, kind);
    return document;
  }

  public static Policy parse(String document, PolicyKind kind) throws QueryException {
    try {
      return Policy.parse(document, kind);
    } catch (MalformedPolicyException e) {
      throw new QueryException(
          QueryError.MALFORMED_POLICY_DOCUMENT, "The policy is not valid: " + e.reason());
    }
  }
}
