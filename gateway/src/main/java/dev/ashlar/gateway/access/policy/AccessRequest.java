package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.access.policy.value.RequestValues;
import java.util.Locale;

/**
 * What policies are asked about: one action on one resource. It remembers the values of condition
 * keys, so that several policies can be asked at the price of one. For one thread.
 */
public final class AccessRequest {
  private final Requester requester;
  private final CodePoints action;
  private final CodePoints resource;
  private final RequestValues values;

  /**
   * @param action such as s3:GetObject, in any case
   * @param resourceArn such as arn:aws:s3:::bucket/key
   */
  public AccessRequest(
      Requester requester, String action, String resourceArn, ConditionContext context) {
    this.requester = requester;
    this.action = CodePoints.of(action.toLowerCase(Locale.ROOT));
    this.resource = CodePoints.of(resourceArn);
    this.values = new RequestValues(context);
  }

  public Requester requester() {
    return requester;
  }

  /** In lower case. */
  public String actionName() {
    return action.text();
  }

  CodePoints action() {
    return action;
  }

  CodePoints resource() {
    return resource;
  }

  RequestValues values() {
    return values;
  }
}
