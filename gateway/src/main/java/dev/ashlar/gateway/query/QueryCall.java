package dev.ashlar.gateway.query;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.principal.ConnectionFacts;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.RequestFacts;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A request of a service, signed by somebody. */
public record QueryCall(
    QueryApi api,
    String action,
    QueryParameters parameters,
    Principal caller,
    ConnectionFacts connection) {

  public Instant now() {
    return connection.now();
  }

  /** The name of the action in policies, such as iam:CreateUser. */
  public String permission() {
    return api.service() + ":" + action;
  }

  /**
   * Returns only if the caller may do this action with a resource of its own account.
   *
   * @param values of condition keys, in lower case, that only this action has
   * @throws QueryException AccessDenied
   */
  public void require(String resource, Map<String, List<String>> values) throws QueryException {
    AccessRequest request =
        new AccessRequest(caller.requester(), permission(), resource, facts(values));
    Decision decision = Authorization.decideInOwnAccount(request, caller.policies());
    if (!decision.isAllowed()) {
      throw denied(resource).deniedBy(decision.why());
    }
  }

  public RequestFacts facts(Map<String, List<String>> values) {
    return new RequestFacts(caller, connection, values);
  }

  public QueryException denied(String resource) {
    return new QueryException(
        QueryError.ACCESS_DENIED,
        "User: "
            + caller.arn()
            + " is not authorized to perform: "
            + permission()
            + " on resource: "
            + resource);
  }
}
