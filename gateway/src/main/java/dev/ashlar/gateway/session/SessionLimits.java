package dev.ashlar.gateway.session;

import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.iam.Documents;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.principal.BuiltInPolicies;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.query.QueryParameters.Member;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the session policies of a request: a document, and up to ten managed policies of the role's
 * account, which count as they are when the session begins.
 */
record SessionLimits(IdentityClient identities, String account) {
  private static final int ARNS_MAX = 10;

  List<String> read(QueryParameters parameters)
      throws QueryException, MetadataUnavailableException {
    List<String> policies = new ArrayList<>();
    Optional<String> inline = parameters.optional("Policy");
    if (inline.isPresent()) {
      policies.add(Documents.checked(inline.get(), PolicyKind.session()));
    }
    List<Member> arns = parameters.structures("PolicyArns", "arn");
    if (arns.size() > ARNS_MAX) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR, "A session can have at most " + ARNS_MAX + " policy ARNs.");
    }
    for (Member arn : arns) {
      policies.add(managed(arn.required("arn")));
    }
    return policies;
  }

  private String managed(String arn) throws QueryException, MetadataUnavailableException {
    Optional<BuiltInPolicies.BuiltIn> builtIn = BuiltInPolicies.withArn(arn);
    if (builtIn.isPresent()) {
      return builtIn.get().document();
    }
    Optional<Arns.Name> name =
        Arns.parse(arn)
            .filter(parsed -> parsed.kind() == IdentityKind.IDENTITY_POLICY)
            .filter(parsed -> parsed.account().equals(account));
    Optional<IdentityRow> row =
        name.isEmpty()
            ? Optional.empty()
            : identities
                .identity(account, IdentityKind.IDENTITY_POLICY, name.get().name())
                .filter(found -> Arns.of(found).equals(arn));
    return row.flatMap(SessionLimits::defaultVersion)
        .orElseThrow(
            () ->
                new QueryException(
                    QueryError.VALIDATION_ERROR, "The policy " + arn + " does not exist."));
  }

  private static Optional<String> defaultVersion(IdentityRow policy) {
    return policy.getDocumentsList().stream()
        .filter(document -> document.getName().equals(policy.getDefaultVersion()))
        .map(IdentityDocument::getText)
        .findFirst();
  }
}
