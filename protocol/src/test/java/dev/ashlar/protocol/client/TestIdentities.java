package dev.ashlar.protocol.client;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteAccessKey;
import dev.ashlar.protocol.message.DeleteAccount;
import dev.ashlar.protocol.message.DeleteIdentity;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.PutIdentity;
import java.util.Locale;

/** Commands on accounts and identities as a gateway makes them. */
public final class TestIdentities {
  public static final String ACCOUNT = "000011112222";

  private static final String POLICY = "{\"Statement\":[]}";

  private TestIdentities() {}

  // ---- Accounts ----

  public static AccountRow.Builder account(String id) {
    return AccountRow.newBuilder()
        .setId(id)
        .setCanonicalId(canonicalId(id))
        .setName("Account " + id)
        .setEmail("Root@" + id + ".example");
  }

  public static String canonicalId(String account) {
    return "ca" + "0".repeat(50) + account;
  }

  public static Command.Builder putNew(AccountRow.Builder account) {
    return Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(account));
  }

  /** Replaces the row that was read by this one. */
  public static Command.Builder putChanged(AccountRow.Builder account) {
    Command.Builder command = putNew(account);
    command.getPutAccountBuilder().setExpectedRevision(account.getRevision());
    return command;
  }

  public static Command.Builder deleteAccount(String id) {
    return Command.newBuilder().setDeleteAccount(DeleteAccount.newBuilder().setAccount(id));
  }

  // ---- Identities ----

  public static IdentityRow.Builder user(String name) {
    return row(IdentityKind.IDENTITY_USER, "AIDA", name);
  }

  public static IdentityRow.Builder group(String name) {
    return row(IdentityKind.IDENTITY_GROUP, "AGPA", name);
  }

  public static IdentityRow.Builder role(String name) {
    return row(IdentityKind.IDENTITY_ROLE, "AROA", name)
        .setTrustPolicy(POLICY)
        .setMaxSessionSeconds(3600);
  }

  /** With one version. */
  public static IdentityRow.Builder policy(String name) {
    return row(IdentityKind.IDENTITY_POLICY, "ANPA", name)
        .addDocuments(document("v1"))
        .setDefaultVersion("v1")
        .setVersionsMade(1);
  }

  public static IdentityRow.Builder provider(String name) {
    return row(IdentityKind.IDENTITY_PROVIDER, "OIDC", name).addClientIds("client");
  }

  private static IdentityRow.Builder row(IdentityKind kind, String prefix, String name) {
    return IdentityRow.newBuilder()
        .setKind(kind)
        .setAccount(ACCOUNT)
        .setId(id(prefix, name))
        .setName(name)
        .setPath("/");
  }

  /** The id of an identity with this name, unless its test gives it another one. */
  public static String id(String prefix, String name) {
    return prefix + name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "");
  }

  public static IdentityDocument.Builder document(String name) {
    return IdentityDocument.newBuilder().setName(name).setText(POLICY);
  }

  public static Command.Builder putNew(IdentityRow.Builder identity) {
    return Command.newBuilder().setPutIdentity(PutIdentity.newBuilder().setIdentity(identity));
  }

  /** Replaces the row that was read by this one. */
  public static Command.Builder putChanged(IdentityRow.Builder identity) {
    Command.Builder command = putNew(identity);
    command.getPutIdentityBuilder().setExpectedRevision(identity.getRevision());
    return command;
  }

  public static Command.Builder deleteIdentity(String id) {
    return Command.newBuilder()
        .setDeleteIdentity(DeleteIdentity.newBuilder().setAccount(ACCOUNT).setId(id));
  }

  // ---- Access keys ----

  /**
   * @param userId empty: of the root user
   */
  public static PutAccessKey.Builder key(String accessKey, String userId) {
    return PutAccessKey.newBuilder()
        .setAccessKey(accessKey)
        .setAccount(ACCOUNT)
        .setUserId(userId)
        .setSecret(ByteString.copyFromUtf8("secret of " + accessKey));
  }

  /** To replace the row that was read. */
  public static PutAccessKey.Builder key(CredentialRow row) {
    return PutAccessKey.newBuilder()
        .setAccessKey(row.getAccessKey())
        .setAccount(row.getAccount())
        .setUserId(row.getUserId())
        .setInactive(row.getInactive())
        .setSecret(row.getSecret())
        .setSealedBy(row.getSealedBy())
        .setExpectedRevision(row.getRevision());
  }

  public static Command.Builder put(PutAccessKey.Builder key) {
    return Command.newBuilder().setPutAccessKey(key);
  }

  public static Command.Builder deleteKey(String accessKey) {
    return Command.newBuilder()
        .setDeleteAccessKey(
            DeleteAccessKey.newBuilder().setAccessKey(accessKey).setAccount(ACCOUNT));
  }
}
