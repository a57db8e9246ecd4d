package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.gateway.query.QueryCall;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryHandler;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** IAM: what callers do with the identities of their own account. */
public final class IamService implements QueryHandler {
  private static final Map<String, Action> ACTIONS = all();

  private final MetadataClient metadata;
  private final SecretSeals seals;

  /**
   * @param seals seals the secrets of new access keys
   */
  public IamService(MetadataClient metadata, SecretSeals seals) {
    this.metadata = metadata;
    this.seals = seals;
  }

  private static Map<String, Action> all() {
    Map<String, Action> all = new HashMap<>();
    List.of(
            Users.actions(),
            AccessKeys.actions(),
            Groups.actions(),
            Roles.actions(),
            Policies.actions(),
            PolicyVersions.actions(),
            Attachments.actions(),
            InlinePolicies.actions(),
            Tags.actions(),
            Providers.actions(),
            AccountActions.actions(),
            AbsentFeatures.actions())
        .forEach(all::putAll);
    return Map.copyOf(all);
  }

  /** The names of all actions that are served. */
  public static Set<String> actionNames() {
    return ACTIONS.keySet();
  }

  @Override
  public void handle(QueryCall call, XmlWriter result)
      throws QueryException, MetadataUnavailableException {
    Action action = ACTIONS.get(call.action());
    if (action == null) {
      throw new QueryException(
          QueryError.INVALID_ACTION, "The action " + call.action() + " is not served.");
    }
    if (isTokenOfUser(call)) {
      throw new QueryException(
          QueryError.ACCESS_DENIED,
          "Credentials from GetSessionToken cannot be used to call IAM without multi-factor"
              + " authentication.");
    }
    Directory directory = new Directory(metadata, seals, call.caller().accountId());
    action.run(new IamCall(call, directory, result));
  }

  private static boolean isTokenOfUser(QueryCall call) {
    return call.caller().session() != null
        && (call.caller().identity() == null
            || call.caller().identity().getKind() != IdentityKind.IDENTITY_ROLE);
  }
}
