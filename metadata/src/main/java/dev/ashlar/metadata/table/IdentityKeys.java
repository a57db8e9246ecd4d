package dev.ashlar.metadata.table;

import java.util.Arrays;

/**
 * The layout of the keys of accounts and identities.
 *
 * <pre>
 * I | account 8 | A                                          AccountRow
 * I | account 8 | D | text(identity id) | text(document)     IdentityDocument
 * I | account 8 | F | kind 1 | text(path) | text(name)       (the name, lower case)
 * I | account 8 | G, O, P, R, U | text(name)                 IdentityRow
 * I | account 8 | K | text(user id) | text(access key)       (the access key)
 * I | account 8 | M | text(group id) | text(user id)         (the user's id)
 * I | account 8 | N | text(identity id)                      IdentityNameRow
 * I | account 8 | S                                          AccountStateRow
 * I | account 8 | T | text(policy id) | kind 1 | text(identity id)   (the identity's id)
 * I | FF * 8 | C | text(canonical id)                        AccountNameRow
 * I | FF * 8 | E | text(e-mail, lower case)                  AccountNameRow
 * I | FF * 8 | L | text(alias)                               AccountNameRow
 * </pre>
 *
 * <p>A kind is the letter of the identity's table: G group, O OIDC provider, P policy, R role, U
 * user. Names are in lower case. The AccountRow comes first of the rows of its account.
 */
public final class IdentityKeys {
  private static final long ALL_ACCOUNTS = -1;

  private IdentityKeys() {}

  public static byte[] account(long account) {
    return of(account, 'A').array();
  }

  /** Before the AccountRow of this account, and behind all rows of the accounts before it. */
  public static byte[] accountsFrom(long account) {
    return new Keys.Builder('I').number(account).array();
  }

  /** Behind the rows of all accounts. */
  public static byte[] accountsEnd() {
    return accountsFrom(ALL_ACCOUNTS);
  }

  public static byte[] accountState(long account) {
    return of(account, 'S').array();
  }

  public static byte[] canonicalId(String canonicalId) {
    return of(ALL_ACCOUNTS, 'C').text(canonicalId).array();
  }

  public static boolean isOfCanonicalId(byte[] key) {
    byte[] prefix = canonicalIds();
    return key.length > prefix.length
        && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
  }

  /** Before the rows of all canonical ids. */
  public static byte[] canonicalIds() {
    return of(ALL_ACCOUNTS, 'C').array();
  }

  /**
   * @param email in lower case
   */
  public static byte[] email(String email) {
    return of(ALL_ACCOUNTS, 'E').text(email).array();
  }

  public static byte[] alias(String alias) {
    return of(ALL_ACCOUNTS, 'L').text(alias).array();
  }

  /**
   * @param name in lower case
   */
  public static byte[] identity(long account, char kind, String name) {
    return of(account, kind).text(name).array();
  }

  /** The prefix of the keys of all identities of a kind. */
  public static byte[] identities(long account, char kind) {
    return of(account, kind).array();
  }

  public static byte[] identityId(long account, String id) {
    return of(account, 'N').text(id).array();
  }

  /**
   * @param name in lower case
   */
  public static byte[] path(long account, char kind, String path, String name) {
    return of(account, 'F').letter(kind).text(path).text(name).array();
  }

  /** The prefix of the keys of all identities whose paths begin with these UTF-8 bytes. */
  public static byte[] paths(long account, char kind, byte[] pathPrefix) {
    return of(account, 'F').letter(kind).escaped(pathPrefix).array();
  }

  public static byte[] document(long account, String id, String document) {
    return of(account, 'D').text(id).text(document).array();
  }

  public static byte[] accessKey(long account, String userId, String accessKey) {
    return of(account, 'K').text(userId).text(accessKey).array();
  }

  /** The prefix of the keys of a user's access keys; those of the root user have an empty id. */
  public static byte[] accessKeys(long account, String userId) {
    return of(account, 'K').text(userId).array();
  }

  public static byte[] member(long account, String groupId, String userId) {
    return of(account, 'M').text(groupId).text(userId).array();
  }

  /** The prefix of the keys of a group's members. */
  public static byte[] members(long account, String groupId) {
    return of(account, 'M').text(groupId).array();
  }

  public static byte[] attachment(long account, String policyId, char kind, String id) {
    return of(account, 'T').text(policyId).letter(kind).text(id).array();
  }

  /** The prefix of the keys of all attachments of a policy. */
  public static byte[] attachments(long account, String policyId) {
    return of(account, 'T').text(policyId).array();
  }

  /** The prefix of the keys of its attachments to identities of one kind. */
  public static byte[] attachments(long account, String policyId, char kind) {
    return of(account, 'T').text(policyId).letter(kind).array();
  }

  private static Keys.Builder of(long account, char row) {
    return new Keys.Builder('I').number(account).letter(row);
  }
}
