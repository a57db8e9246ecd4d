package dev.ashlar.server.account;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.principal.RootAccount;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteAccessKey;
import dev.ashlar.protocol.message.DeleteAccount;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.ResultCode;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The accounts of a store, for its operator. For many threads. */
public final class Accounts {
  private static final int PAGE = 1000;

  /** Gateways that start at once create the same accounts. */
  private static final int TRIES = 5;

  private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final String SECRET_LETTERS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  private final MetadataClient metadata;
  private final String firstOwner;
  private final String rootAccessKey;
  private final SecretSeals seals;
  private final SecureRandom random = new SecureRandom();

  /**
   * @param firstOwner canonical id of the account of the server's root credential
   * @param rootAccessKey of that credential, which no account can have
   * @param seals seals the secrets of access keys
   */
  public Accounts(
      MetadataClient metadata, String firstOwner, String rootAccessKey, SecretSeals seals) {
    this.seals = seals;
    this.metadata = metadata;
    this.firstOwner = firstOwner;
    this.rootAccessKey = rootAccessKey;
  }

  /** What was asked for cannot be done; the message says why. */
  public static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String why) {
      super(why);
    }
  }

  /** An account as operators see it. */
  public record Info(
      String id, String name, String email, String canonicalId, List<String> accessKeys) {}

  /** A new access key. The secret is shown once. */
  public record NewKey(String account, String canonicalId, String accessKey, String secretKey) {}

  /** What was done. */
  public record Done(String done, String account) {}

  /** All accounts by id, with the first one also before anything needs it to be stored. */
  public List<Info> list() throws MetadataUnavailableException {
    List<Info> infos = new ArrayList<>();
    List<AccountValue> page = metadata.accounts("", PAGE);
    while (!page.isEmpty()) {
      for (AccountValue value : page) {
        AccountRow row = value.getAccount();
        infos.add(
            new Info(row.getId(), row.getName(), row.getEmail(), row.getCanonicalId(), keys(row)));
      }
      page = metadata.accounts(page.getLast().getAccount().getId(), PAGE);
    }
    if (infos.stream().noneMatch(info -> info.canonicalId().equals(firstOwner))) {
      AccountRow row = firstRow();
      infos.add(new Info(row.getId(), row.getName(), "", firstOwner, keys(row)));
      infos.sort(Comparator.comparing(Info::id));
    }
    return infos;
  }

  private List<String> keys(AccountRow row) throws MetadataUnavailableException {
    List<String> keys = new ArrayList<>();
    if (row.getCanonicalId().equals(firstOwner)) {
      keys.add(rootAccessKey);
    }
    metadata.accessKeys(row.getId(), "").forEach(key -> keys.add(key.getAccessKey()));
    return keys;
  }

  /**
   * Creates an account with an access key of its root user.
   *
   * @param id 12 digits; empty: one that is free
   * @param email empty: none
   */
  public NewKey create(String id, String name, String email)
      throws MetadataUnavailableException, RefusedException {
    String chosen = id.isEmpty() ? freeId() : id;
    AccountSpec spec;
    try {
      spec = new AccountSpec(chosen, name, email, "", newAccessKey(), newSecretKey());
    } catch (IllegalArgumentException e) {
      throw new RefusedException(String.valueOf(e.getMessage()));
    }
    if (find(chosen).isPresent()) {
      throw new RefusedException("there is an account " + chosen + " already");
    }
    ensureAll(List.of(spec));
    return new NewKey(chosen, canonicalId(spec), spec.accessKey(), spec.secretKey());
  }

  private String freeId() throws MetadataUnavailableException {
    String id;
    do {
      id = "%012d".formatted(random.nextLong(100_000_000_000L, 1_000_000_000_000L));
    } while (find(id).isPresent());
    return id;
  }

  /** Another access key for the root user of an account. */
  public NewKey createKey(String id) throws MetadataUnavailableException, RefusedException {
    AccountRow row = present(id);
    NewKey key = new NewKey(id, row.getCanonicalId(), newAccessKey(), newSecretKey());
    ResultCode code = put(id, key.accessKey(), key.secretKey(), null);
    if (code == ResultCode.LIMIT_EXCEEDED) {
      throw new RefusedException("the root user of account " + id + " has two access keys already");
    }
    requireOk(code);
    return key;
  }

  /**
   * Gives a user of the first account an access key that is known from elsewhere, so that clients
   * keep theirs; the key of that user with this id gets this secret and state.
   */
  public Done putUserKey(String userName, String accessKey, String secretKey, boolean isEnabled)
      throws MetadataUnavailableException, RefusedException {
    if (accessKey.equals(rootAccessKey)) {
      throw new RefusedException(accessKey + " is that of the server's root credential");
    }
    String account = firstAccount();
    String user =
        metadata
            .identity(account, IdentityKind.IDENTITY_USER, userName)
            .map(IdentityRow::getId)
            .orElseThrow(() -> new RefusedException("there is no user " + userName));
    PrincipalAnswer known =
        metadata.principal(PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
    boolean isPresent = known.getState() == PrincipalAnswer.State.PRESENT;
    CredentialRow row = known.getCredential();
    if (isPresent && !(row.getAccount().equals(account) && row.getUserId().equals(user))) {
      throw new RefusedException("somebody else has the access key " + accessKey);
    }
    PutAccessKey.Builder put =
        PutAccessKey.newBuilder()
            .setAccount(account)
            .setUserId(user)
            .setAccessKey(accessKey)
            .setInactive(!isEnabled)
            .setExpectedRevision(isPresent ? row.getRevision() : 0);
    ResultCode code = submit(Command.newBuilder().setPutAccessKey(seals.put(put, secretKey)));
    if (code == ResultCode.LIMIT_EXCEEDED) {
      throw new RefusedException("user " + userName + " has two other access keys already");
    }
    if (code == ResultCode.INVALID_COMMAND) {
      throw new RefusedException(
          "an access key has 3 to 128 visible ASCII characters, none of them '/', ',' or '=', and"
              + " a secret of at most 1000 bytes");
    }
    requireOk(code);
    return new Done("access key " + accessKey + " of user " + userName, account);
  }

  public Done deleteKey(String id, String accessKey)
      throws MetadataUnavailableException, RefusedException {
    present(id);
    ResultCode code =
        submit(
            Command.newBuilder()
                .setDeleteAccessKey(
                    DeleteAccessKey.newBuilder().setAccount(id).setAccessKey(accessKey)));
    if (code == ResultCode.NO_SUCH_ENTITY) {
      throw new RefusedException("account " + id + " has no access key " + accessKey);
    }
    requireOk(code);
    return new Done("deleted access key " + accessKey, id);
  }

  /** Deletes an account without buckets, users, groups, roles and policies, and its keys. */
  public Done delete(String id) throws MetadataUnavailableException, RefusedException {
    AccountRow row = present(id);
    if (row.getCanonicalId().equals(firstOwner)) {
      throw new RefusedException(id + " is the account of the server's root credential");
    }
    ResultCode code =
        submit(Command.newBuilder().setDeleteAccount(DeleteAccount.newBuilder().setAccount(id)));
    if (code == ResultCode.DELETE_CONFLICT) {
      throw new RefusedException(
          "account " + id + " has buckets, users, groups, roles or policies: delete them first");
    }
    requireOk(code);
    return new Done("deleted account", id);
  }

  private AccountRow present(String id) throws MetadataUnavailableException, RefusedException {
    return find(id).orElseThrow(() -> new RefusedException("there is no account " + id));
  }

  private Optional<AccountRow> find(String id) throws MetadataUnavailableException {
    return metadata
        .account(AccountQuery.newBuilder().setId(id).build())
        .map(AccountValue::getAccount);
  }

  /** Creates what is missing of these accounts, and changes what is different. */
  public void ensureAll(List<AccountSpec> specs)
      throws MetadataUnavailableException, RefusedException {
    ensureFirst();
    for (AccountSpec spec : specs) {
      ensure(spec);
    }
  }

  private void ensure(AccountSpec spec) throws MetadataUnavailableException, RefusedException {
    if (spec.canonicalId().equals(firstOwner) || spec.id().equals(firstAccount())) {
      throw new RefusedException(spec.id() + " is the account of the server's root credential");
    }
    if (spec.accessKey().equals(rootAccessKey)) {
      throw new RefusedException(
          "account " + spec.id() + ": its access key is that of the server's root credential");
    }
    ensureAccount(spec);
    ensureKey(spec);
  }

  /** Others can grant something only to accounts that are stored. */
  private void ensureFirst() throws MetadataUnavailableException, RefusedException {
    if (metadata
        .account(AccountQuery.newBuilder().setCanonicalId(firstOwner).build())
        .isPresent()) {
      return;
    }
    ResultCode code =
        submit(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(firstRow())));
    // Another gateway may have been faster.
    if (code != ResultCode.ENTITY_ALREADY_EXISTS) {
      requireOk(code);
    }
  }

  private AccountRow firstRow() {
    return AccountRow.newBuilder()
        .setId(RootAccount.accountId(firstOwner))
        .setCanonicalId(firstOwner)
        .setName("root")
        .build();
  }

  private String firstAccount() throws MetadataUnavailableException {
    return metadata
        .account(AccountQuery.newBuilder().setCanonicalId(firstOwner).build())
        .map(value -> value.getAccount().getId())
        .orElseGet(() -> RootAccount.accountId(firstOwner));
  }

  private void ensureAccount(AccountSpec spec)
      throws MetadataUnavailableException, RefusedException {
    ResultCode code = ResultCode.CONDITIONAL_CONFLICT;
    for (int tries = 0; tries < TRIES && isOvertaken(code); tries++) {
      Optional<AccountRow> before = find(spec.id());
      if (before.isPresent() && isAs(before.get(), spec)) {
        return;
      }
      AccountRow.Builder row = before.map(AccountRow::toBuilder).orElseGet(() -> newRow(spec));
      row.setName(spec.name()).setEmail(spec.email());
      PutAccount put =
          PutAccount.newBuilder()
              .setAccount(row)
              .setExpectedRevision(before.map(AccountRow::getRevision).orElse(0L))
              .build();
      code = submit(Command.newBuilder().setPutAccount(put));
    }
    if (code == ResultCode.ENTITY_ALREADY_EXISTS) {
      throw new RefusedException(
          "account " + spec.id() + ": another account has its canonical id or e-mail address");
    }
    requireOk(code);
  }

  private static boolean isOvertaken(ResultCode code) {
    return code == ResultCode.CONDITIONAL_CONFLICT || code == ResultCode.ENTITY_ALREADY_EXISTS;
  }

  private AccountRow.Builder newRow(AccountSpec spec) {
    return AccountRow.newBuilder().setId(spec.id()).setCanonicalId(canonicalId(spec));
  }

  private static boolean isAs(AccountRow row, AccountSpec spec) throws RefusedException {
    if (!spec.canonicalId().isEmpty() && !spec.canonicalId().equals(row.getCanonicalId())) {
      throw new RefusedException(
          "account " + spec.id() + ": its canonical id is " + row.getCanonicalId() + " for ever");
    }
    return row.getName().equals(spec.name()) && row.getEmail().equals(spec.email());
  }

  /** The same at each gateway of a store, and different in another store. */
  private String canonicalId(AccountSpec spec) {
    if (!spec.canonicalId().isEmpty()) {
      return spec.canonicalId();
    }
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return HexFormat.of()
          .formatHex(sha256.digest((firstOwner + " account " + spec.id()).getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private void ensureKey(AccountSpec spec) throws MetadataUnavailableException, RefusedException {
    ResultCode code = ResultCode.CONDITIONAL_CONFLICT;
    for (int tries = 0; tries < TRIES && isOvertaken(code); tries++) {
      PrincipalAnswer known =
          metadata.principal(PrincipalQuery.newBuilder().setAccessKey(spec.accessKey()).build());
      boolean isPresent = known.getState() == PrincipalAnswer.State.PRESENT;
      CredentialRow row = known.getCredential();
      if (isPresent && !(row.getAccount().equals(spec.id()) && row.getUserId().isEmpty())) {
        throw new RefusedException(
            "account " + spec.id() + ": somebody else has the access key " + spec.accessKey());
      }
      if (isPresent && seals.isCurrent(row) && seals.open(row).equals(spec.secretKey())) {
        return;
      }
      code = put(spec.id(), spec.accessKey(), spec.secretKey(), isPresent ? row : null);
    }
    if (code == ResultCode.LIMIT_EXCEEDED) {
      throw new RefusedException(
          "account " + spec.id() + ": its root user has two other access keys already");
    }
    requireOk(code);
  }

  private ResultCode put(
      String account, String accessKey, String secretKey, @Nullable CredentialRow before)
      throws MetadataUnavailableException {
    return submit(
        Command.newBuilder()
            .setPutAccessKey(
                seals.put(
                    PutAccessKey.newBuilder()
                        .setAccount(account)
                        .setAccessKey(accessKey)
                        .setInactive(before != null && before.getInactive())
                        .setExpectedRevision(before == null ? 0 : before.getRevision()),
                    secretKey)));
  }

  private ResultCode submit(Command.Builder command) throws MetadataUnavailableException {
    return metadata.submit(command).getCode();
  }

  private static void requireOk(ResultCode code) throws RefusedException {
    if (code == ResultCode.INVALID_COMMAND) {
      throw new RefusedException(
          "metadata peers of an older build do not know accounts: upgrade all of them first");
    }
    if (code != ResultCode.OK) {
      throw new RefusedException("metadata refuses it: " + code);
    }
  }

  private String newAccessKey() {
    return "AK" + text(LETTERS, 18);
  }

  private String newSecretKey() {
    return text(SECRET_LETTERS, 40);
  }

  private String text(String letters, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }
}
