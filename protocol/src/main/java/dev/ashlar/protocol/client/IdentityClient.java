package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.AccessKeysQuery;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.AccountsQuery;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityLookup;
import dev.ashlar.protocol.message.IdentityQuery;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.util.List;
import java.util.Optional;

/**
 * Reads of accounts, identities and access keys. They are changed by the commands of {@code
 * identity.proto}.
 */
public interface IdentityClient {
  /** Answers a query from one snapshot that has every command that was answered before. */
  IdentityAnswer identity(IdentityQuery query) throws MetadataUnavailableException;

  /** Who has signed a request, with the policies that count for them. */
  default PrincipalAnswer principal(PrincipalQuery query) throws MetadataUnavailableException {
    return identity(IdentityQuery.newBuilder().setPrincipal(query).build()).getPrincipal();
  }

  default Optional<AccountValue> account(AccountQuery query) throws MetadataUnavailableException {
    return identity(IdentityQuery.newBuilder().setAccount(query).build()).getAccountsList().stream()
        .findFirst();
  }

  /**
   * A page of the accounts by id.
   *
   * @param after an id: only greater ones; empty: from the first
   */
  default List<AccountValue> accounts(String after, int max) throws MetadataUnavailableException {
    AccountsQuery query = AccountsQuery.newBuilder().setAfter(after).setMax(max).build();
    return identity(IdentityQuery.newBuilder().setAccounts(query).build()).getAccountsList();
  }

  /** An identity by its name, in whatever case, with all of its documents. */
  default Optional<IdentityRow> identity(String account, IdentityKind kind, String name)
      throws MetadataUnavailableException {
    return look(IdentityLookup.newBuilder().setAccount(account).setKind(kind).setName(name))
        .stream()
        .findFirst();
  }

  /** Those identities that exist, in the order of these ids, with all of their documents. */
  default List<IdentityRow> identities(String account, List<String> ids)
      throws MetadataUnavailableException {
    return look(IdentityLookup.newBuilder().setAccount(account).addAllIds(ids));
  }

  private List<IdentityRow> look(IdentityLookup.Builder lookup)
      throws MetadataUnavailableException {
    return identity(IdentityQuery.newBuilder().setIdentity(lookup).build()).getIdentitiesList();
  }

  /** A page of identities without the texts of documents. */
  default IdentityPage identities(IdentityListQuery query) throws MetadataUnavailableException {
    IdentityAnswer answer = identity(IdentityQuery.newBuilder().setIdentities(query).build());
    return new IdentityPage(answer.getIdentitiesList(), answer.getTruncated());
  }

  /**
   * The access keys of a user.
   *
   * @param userId empty: those of the account's root user
   */
  default List<CredentialRow> accessKeys(String account, String userId)
      throws MetadataUnavailableException {
    AccessKeysQuery query =
        AccessKeysQuery.newBuilder().setAccount(account).setUserId(userId).build();
    return identity(IdentityQuery.newBuilder().setAccessKeys(query).build()).getAccessKeysList();
  }
}
