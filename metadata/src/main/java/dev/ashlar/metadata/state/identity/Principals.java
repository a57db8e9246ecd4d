package dev.ashlar.metadata.state.identity;

import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountNameRow;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds who has signed a request, and the policies that count for them. A caller that knows the
 * present revision of the account costs two look-ups and gets no documents.
 */
public final class Principals {
  private static final PrincipalAnswer ABSENT = PrincipalAnswer.getDefaultInstance();

  private final Table table;
  private final PrincipalQuery query;

  private Principals(Table table, PrincipalQuery query) {
    this.table = table;
    this.query = query;
  }

  public static PrincipalAnswer answer(Table table, PrincipalQuery query) {
    Principals principals = new Principals(table, query);
    return query.getAccessKey().isEmpty() ? principals.ofAccount() : principals.ofAccessKey();
  }

  /**
   * A credential for builds that know only those of PutCredential. Access keys are not for them:
   * they would check a signature with the secret that such a row does not have.
   */
  public static Optional<CredentialRow> credential(Table table, String accessKey) {
    return AccessKeyCommands.row(table, accessKey)
        .filter(row -> row.getAccount().isEmpty())
        .filter(row -> !AccountRows.isRemoved(table, row.getOwner()));
  }

  private PrincipalAnswer ofAccessKey() {
    CredentialRow key = AccessKeyCommands.row(table, query.getAccessKey()).orElse(null);
    if (key == null) {
      return ABSENT;
    }
    // A user is not deleted before its keys, nor an account without them.
    return key.getAccount().isEmpty()
        ? ofCredential(key)
        : of(AccountRows.number(key.getAccount()), key.getUserId(), key);
  }

  /** A credential of PutCredential is one of the root user of its owner's account. */
  private PrincipalAnswer ofCredential(CredentialRow credential) {
    AccountNameRow owner = AccountRows.owner(table, credential.getOwner()).orElse(null);
    if (owner == null) {
      return PrincipalAnswer.newBuilder().setState(State.PRESENT).setCredential(credential).build();
    }
    return owner.getRemoved() ? ABSENT : of(AccountRows.number(owner.getAccount()), "", credential);
  }

  private PrincipalAnswer ofAccount() {
    if (!AccountRows.isId(query.getAccount())) {
      return ABSENT;
    }
    long account = AccountRows.number(query.getAccount());
    String id = query.getIdentityId();
    boolean canSign =
        id.isEmpty()
            || IdentityRows.kind(table, account, id)
                .filter(kind -> kind == KindRules.USER.kind() || kind == KindRules.ROLE.kind())
                .isPresent();
    return canSign ? of(account, id, null) : ABSENT;
  }

  /**
   * @param identityId of an identity of the account, if that exists; empty: the root user
   */
  private PrincipalAnswer of(long account, String identityId, @Nullable CredentialRow key) {
    long revision = AccountRows.state(table, account).getRevision();
    if (revision == 0) {
      return ABSENT;
    }
    PrincipalAnswer.Builder answer = PrincipalAnswer.newBuilder().setRevision(revision);
    if (revision == query.getKnownRevision()) {
      return answer.setState(State.UNCHANGED).build();
    }
    answer.setState(State.PRESENT).setAccount(AccountRows.numbered(table, account));
    if (key != null) {
      answer.setCredential(key);
    }
    if (!identityId.isEmpty()) {
      addIdentity(answer, account, identityId);
    }
    return answer.build();
  }

  private void addIdentity(PrincipalAnswer.Builder answer, long account, String id) {
    IdentityRow identity = IdentityRows.withId(table, account, id).orElseThrow();
    answer.setIdentity(IdentityRows.withTexts(table, account, identity));
    Set<String> policies = new LinkedHashSet<>(identity.getAttachedPoliciesList());
    for (String groupId : identity.getGroupsList()) {
      IdentityRows.withId(table, account, groupId)
          .ifPresent(
              group -> {
                answer.addGroups(IdentityRows.withTexts(table, account, group));
                policies.addAll(group.getAttachedPoliciesList());
              });
    }
    for (String policyId : policies) {
      IdentityRows.withId(table, account, policyId)
          .ifPresent(
              policy ->
                  answer.addPolicies(IdentityRows.withDefaultVersion(table, account, policy)));
    }
  }
}
