package dev.ashlar.metadata.state.identity;

import static java.util.Objects.requireNonNull;

import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.PutIdentity;
import dev.ashlar.protocol.message.ResultCode;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What apply should make of commands that are valid by themselves, in maps and without indexes. */
final class IdentityModel {
  final Map<String, Account> accounts = new TreeMap<>();
  final Map<String, Key> keys = new TreeMap<>();
  final Map<String, String> buckets = new TreeMap<>();

  /** Canonical ids of deleted accounts. */
  final Set<String> removed = new HashSet<>();

  static final class Account {
    AccountRow row;
    long changed;
    final Map<String, IdentityRow> identities = new TreeMap<>();

    Account(AccountRow row) {
      this.row = row;
    }

    /** One that exists. */
    IdentityRow identity(String id) {
      return requireNonNull(identities.get(id));
    }

    long attachments(String policy) {
      return identities.values().stream()
          .filter(row -> row.getAttachedPoliciesList().contains(policy))
          .count();
    }
  }

  record Key(PutAccessKey command, long revision) {}

  /** One that exists. */
  Account account(String id) {
    return requireNonNull(accounts.get(id));
  }

  /** What the command is answered with. */
  ResultCode expected(Command.Builder command) {
    return switch (command.getKindCase()) {
      case PUT_ACCOUNT -> putAccount(command.getPutAccount());
      case DELETE_ACCOUNT -> deleteAccount(command.getDeleteAccount().getAccount());
      case PUT_IDENTITY -> putIdentity(command.getPutIdentity());
      case DELETE_IDENTITY ->
          deleteIdentity(
              accounts.get(command.getDeleteIdentity().getAccount()),
              command.getDeleteIdentity().getId());
      case PUT_ACCESS_KEY -> putKey(command.getPutAccessKey());
      case DELETE_ACCESS_KEY ->
          isKeyOf(
                  command.getDeleteAccessKey().getAccessKey(),
                  command.getDeleteAccessKey().getAccount())
              ? ResultCode.OK
              : ResultCode.NO_SUCH_ENTITY;
      case CREATE_BUCKET -> createBucket(command);
      case DELETE_BUCKET ->
          buckets.containsKey(command.getDeleteBucket().getName())
              ? ResultCode.OK
              : ResultCode.NO_SUCH_BUCKET;
      default -> throw new IllegalArgumentException(command.toString());
    };
  }

  private ResultCode putAccount(PutAccount command) {
    AccountRow wanted = command.getAccount();
    Account present = accounts.get(wanted.getId());
    if (command.getExpectedRevision() == 0 && present != null) {
      return ResultCode.ENTITY_ALREADY_EXISTS;
    }
    if (command.getExpectedRevision() != 0) {
      if (present == null) {
        return ResultCode.NO_SUCH_ENTITY;
      }
      if (present.row.getRevision() != command.getExpectedRevision()) {
        return ResultCode.CONDITIONAL_CONFLICT;
      }
    }
    return accounts.values().stream()
            .map(account -> account.row)
            .filter(row -> !row.getId().equals(wanted.getId()))
            .anyMatch(row -> isSame(row.getAlias(), wanted.getAlias()) || hasEmailOf(row, wanted))
        ? ResultCode.ENTITY_ALREADY_EXISTS
        : ResultCode.OK;
  }

  private static boolean hasEmailOf(AccountRow row, AccountRow other) {
    return isSame(lower(row.getEmail()), lower(other.getEmail()));
  }

  private static boolean isSame(String text, String other) {
    return !text.isEmpty() && text.equals(other);
  }

  static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  private ResultCode deleteAccount(String id) {
    Account account = accounts.get(id);
    if (account == null) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    return account.identities.isEmpty() && !buckets.containsValue(account.row.getCanonicalId())
        ? ResultCode.OK
        : ResultCode.DELETE_CONFLICT;
  }

  private ResultCode putIdentity(PutIdentity command) {
    IdentityRow wanted = command.getIdentity();
    Account account = accounts.get(wanted.getAccount());
    if (account == null) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    IdentityRow present = account.identities.get(wanted.getId());
    boolean isTaken =
        account.identities.values().stream()
            .filter(
                row -> !row.getId().equals(wanted.getId()) || command.getExpectedRevision() == 0)
            .filter(row -> row.getKind() == wanted.getKind())
            .anyMatch(row -> lower(row.getName()).equals(lower(wanted.getName())));
    if (command.getExpectedRevision() != 0 && present == null) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    if (present != null
        && command.getExpectedRevision() != 0
        && present.getRevision() != command.getExpectedRevision()) {
      return ResultCode.CONDITIONAL_CONFLICT;
    }
    if (isTaken) {
      return ResultCode.ENTITY_ALREADY_EXISTS;
    }
    if (present != null && command.getExpectedRevision() == 0) {
      return ResultCode.CONDITIONAL_CONFLICT;
    }
    return exist(account, wanted.getGroupsList())
            && exist(account, wanted.getAttachedPoliciesList())
        ? ResultCode.OK
        : ResultCode.NO_SUCH_ENTITY;
  }

  private static boolean exist(Account account, List<String> ids) {
    return account.identities.keySet().containsAll(ids);
  }

  private ResultCode deleteIdentity(@Nullable Account account, String id) {
    IdentityRow row = account == null ? null : account.identities.get(id);
    if (account == null || row == null) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    boolean isReferredTo =
        account.identities.values().stream()
            .anyMatch(
                other ->
                    other.getGroupsList().contains(id)
                        || other.getAttachedPoliciesList().contains(id));
    boolean refers = row.getGroupsCount() + row.getAttachedPoliciesCount() > 0;
    boolean hasInlinePolicies = row.getDefaultVersion().isEmpty() && row.getDocumentsCount() > 0;
    return isReferredTo
            || refers
            || hasInlinePolicies
            || row.getDocumentsCount() > 1
            || !keysOf(row.getAccount(), id).isEmpty()
        ? ResultCode.DELETE_CONFLICT
        : ResultCode.OK;
  }

  Collection<Key> keysOf(String account, String userId) {
    return keys.values().stream()
        .filter(key -> key.command().getAccount().equals(account))
        .filter(key -> key.command().getUserId().equals(userId))
        .toList();
  }

  private boolean isKeyOf(String accessKey, String account) {
    Key key = keys.get(accessKey);
    return key != null && key.command().getAccount().equals(account);
  }

  private ResultCode putKey(PutAccessKey command) {
    Account account = accounts.get(command.getAccount());
    String user = command.getUserId();
    if (account == null || (!user.isEmpty() && !account.identities.containsKey(user))) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    Key present = keys.get(command.getAccessKey());
    if (command.getExpectedRevision() == 0) {
      if (present != null) {
        return ResultCode.ENTITY_ALREADY_EXISTS;
      }
      return keysOf(command.getAccount(), user).size() < 2
          ? ResultCode.OK
          : ResultCode.LIMIT_EXCEEDED;
    }
    if (present == null
        || !present.command().getAccount().equals(command.getAccount())
        || !present.command().getUserId().equals(user)) {
      return ResultCode.NO_SUCH_ENTITY;
    }
    return present.revision() == command.getExpectedRevision()
        ? ResultCode.OK
        : ResultCode.CONDITIONAL_CONFLICT;
  }

  private ResultCode createBucket(Command.Builder command) {
    String owner = buckets.get(command.getCreateBucket().getName());
    if (owner != null) {
      return owner.equals(command.getCreateBucket().getOwner())
          ? ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
          : ResultCode.BUCKET_ALREADY_EXISTS;
    }
    return removed.contains(command.getCreateBucket().getOwner())
        ? ResultCode.NO_SUCH_ENTITY
        : ResultCode.OK;
  }

  // ---- What a command changes ----

  /** Does what was answered with OK. */
  void perform(Command.Builder command, CommandResult result) {
    long revision = result.getVersion();
    switch (command.getKindCase()) {
      case PUT_ACCOUNT -> {
        AccountRow row =
            command.getPutAccount().getAccount().toBuilder().setRevision(revision).build();
        accounts.computeIfAbsent(row.getId(), id -> new Account(row)).row = row;
        removed.remove(row.getCanonicalId());
        touch(row.getId(), revision);
      }
      case DELETE_ACCOUNT -> {
        String id = command.getDeleteAccount().getAccount();
        removed.add(account(id).row.getCanonicalId());
        accounts.remove(id);
        keys.values().removeIf(key -> key.command().getAccount().equals(id));
      }
      case PUT_IDENTITY -> {
        IdentityRow row =
            command.getPutIdentity().getIdentity().toBuilder().setRevision(revision).build();
        account(row.getAccount()).identities.put(row.getId(), row);
        touch(row.getAccount(), revision);
      }
      case DELETE_IDENTITY -> {
        String account = command.getDeleteIdentity().getAccount();
        account(account).identities.remove(command.getDeleteIdentity().getId());
        touch(account, revision);
      }
      case PUT_ACCESS_KEY -> {
        PutAccessKey key = command.getPutAccessKey();
        keys.put(key.getAccessKey(), new Key(key, revision));
        touch(key.getAccount(), revision);
      }
      case DELETE_ACCESS_KEY -> {
        keys.remove(command.getDeleteAccessKey().getAccessKey());
        touch(command.getDeleteAccessKey().getAccount(), revision);
      }
      case CREATE_BUCKET ->
          buckets.put(command.getCreateBucket().getName(), command.getCreateBucket().getOwner());
      case DELETE_BUCKET -> buckets.remove(command.getDeleteBucket().getName());
      default -> throw new IllegalArgumentException(command.toString());
    }
  }

  private void touch(String account, long revision) {
    account(account).changed = revision;
  }
}
