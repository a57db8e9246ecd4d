package dev.ashlar.metadata.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.SeededRuns;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.ResultCode;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Commands on two accounts with few names and ids, so that they meet, with right and wrong
 * revisions, and restarts between them. See {@link SeededRuns}.
 */
class IdentityModelTest {
  private static final int RUNS = 20;
  private static final int COMMANDS = 1500;
  private static final List<String> ACCOUNTS = List.of("000000000000", "999999999999");
  private static final List<IdentityKind> KINDS =
      List.of(
          IdentityKind.IDENTITY_USER,
          IdentityKind.IDENTITY_GROUP,
          IdentityKind.IDENTITY_ROLE,
          IdentityKind.IDENTITY_POLICY,
          IdentityKind.IDENTITY_PROVIDER);

  private Random random = new Random(0);
  private IdentityModel model = new IdentityModel();
  private MemoryMetadata metadata = fresh();
  private final Map<ResultCode, Integer> answers = new TreeMap<>();

  private static MemoryMetadata fresh() {
    return MemoryMetadata.ofVersion(MetadataVersion.IDENTITIES, Clock.systemUTC());
  }

  @Test
  void applyDoesAsTheModel() {
    boolean isUsual =
        SeededRuns.repeat(
            RUNS,
            seed -> {
              random = new Random(seed);
              model = new IdentityModel();
              metadata = fresh();
              run();
            });
    if (isUsual) {
      assertEquals(9, answers.size(), answers::toString);
    }
  }

  private void run() throws Exception {
    for (int i = 0; i < COMMANDS; i++) {
      submit(command());
      if (random.nextInt(100) == 0) {
        metadata =
            new MemoryMetadata(metadata.table(), Clock.systemUTC(), MetadataVersion.IDENTITIES);
      }
      if (i % 25 == 0) {
        check();
      }
    }
    check();
    removeAll();
    assertTrue(
        metadata.table().rows().keySet().stream()
            .filter(key -> key[0] == 'I' || key[0] == 'A')
            .allMatch(key -> key[1] == -1 && key[9] == 'C'),
        "rows are left of deleted accounts");
  }

  private void submit(Command.Builder command) throws Exception {
    ResultCode expected = model.expected(command);
    CommandResult result = metadata.submit(command.clone());
    assertEquals(expected, result.getCode(), command::toString);
    answers.merge(expected, 1, Integer::sum);
    if (expected == ResultCode.OK) {
      model.perform(command, result);
    }
  }

  // ---- Commands ----

  private <T> T one(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private boolean rarely() {
    return random.nextInt(8) == 0;
  }

  private String digit() {
    return String.valueOf(random.nextInt(3));
  }

  private Command.Builder command() {
    String account = one(ACCOUNTS);
    return switch (random.nextInt(16)) {
      case 0, 1 -> putAccount(account);
      case 2 -> TestIdentities.deleteAccount(account);
      case 3 -> TestBlobs.createBucket("b" + digit(), TestIdentities.canonicalId(account));
      case 4, 5 ->
          Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b" + digit()));
      case 6, 7, 8, 9 -> putIdentity(account);
      case 10, 11 -> inAccount(account, TestIdentities.deleteIdentity(id(one(KINDS))));
      case 12, 13, 14 -> putKey(account);
      default -> inAccount(account, TestIdentities.deleteKey("key" + digit()));
    };
  }

  private static Command.Builder inAccount(String account, Command.Builder command) {
    if (command.hasDeleteIdentity()) {
      command.getDeleteIdentityBuilder().setAccount(account);
    } else {
      command.getDeleteAccessKeyBuilder().setAccount(account);
    }
    return command;
  }

  /** The present one, another one, or 0. */
  private long revision(long present) {
    return rarely() ? random.nextInt(3) : present;
  }

  private Command.Builder putAccount(String id) {
    IdentityModel.Account present = model.accounts.get(id);
    AccountRow.Builder row =
        TestIdentities.account(id)
            .setEmail(random.nextBoolean() ? "" : "M" + digit() + "@example")
            .setAlias(random.nextBoolean() ? "" : "alias-" + digit())
            .setRevision(revision(present == null ? 0 : present.row.getRevision()));
    return TestIdentities.putChanged(row);
  }

  private String id(IdentityKind kind) {
    return "ID" + kind.getNumber() + digit();
  }

  private Command.Builder putIdentity(String account) {
    IdentityKind kind = one(KINDS);
    String name = (random.nextBoolean() ? "n" : "N") + digit();
    IdentityRow.Builder row =
        switch (kind) {
          case IDENTITY_USER -> TestIdentities.user(name);
          case IDENTITY_GROUP -> TestIdentities.group(name);
          case IDENTITY_ROLE -> TestIdentities.role(name);
          case IDENTITY_POLICY -> TestIdentities.policy(name).setVersionsMade(3);
          default -> TestIdentities.provider(name);
        };
    row.setId(id(kind)).setAccount(account);
    IdentityModel.Account owner = model.accounts.get(account);
    IdentityRow present = owner == null ? null : owner.identities.get(row.getId());
    row.setRevision(revision(present == null ? 0 : present.getRevision()));
    if (kind != IdentityKind.IDENTITY_PROVIDER) {
      row.setPath(one(List.of("/", "/a/", "/a/b/")));
    }
    if (kind == IdentityKind.IDENTITY_POLICY && random.nextBoolean()) {
      row.addDocuments(TestIdentities.document("v" + (2 + random.nextInt(2))));
    }
    if (kind == IdentityKind.IDENTITY_USER && random.nextInt(3) == 0) {
      row.addGroups(id(IdentityKind.IDENTITY_GROUP));
    }
    if (KINDS.indexOf(kind) < 3) {
      if (random.nextInt(3) == 0) {
        row.addAttachedPolicies(id(IdentityKind.IDENTITY_POLICY));
      }
      if (random.nextInt(3) == 0) {
        row.addDocuments(TestIdentities.document("d" + digit()).setText("text " + digit()));
      }
    }
    return TestIdentities.putChanged(row);
  }

  private Command.Builder putKey(String account) {
    String name = "key" + random.nextInt(6);
    IdentityModel.Key present = model.keys.get(name);
    if (present == null || rarely()) {
      String user = random.nextBoolean() ? "" : id(IdentityKind.IDENTITY_USER);
      return TestIdentities.put(TestIdentities.key(name, user).setAccount(account));
    }
    PutAccessKey.Builder key =
        present.command().toBuilder()
            .setInactive(random.nextBoolean())
            .setExpectedRevision(revision(present.revision()));
    return TestIdentities.put(rarely() ? key.setAccount(account) : key);
  }

  /** Everything, in an order in which nothing is in use. */
  private void removeAll() throws Exception {
    for (String bucket : List.copyOf(model.buckets.keySet())) {
      submit(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(bucket)));
    }
    for (IdentityModel.Key key : List.copyOf(model.keys.values())) {
      submit(
          inAccount(
              key.command().getAccount(), TestIdentities.deleteKey(key.command().getAccessKey())));
    }
    for (String account : List.copyOf(model.accounts.keySet())) {
      for (IdentityRow row : List.copyOf(model.account(account).identities.values())) {
        IdentityRow.Builder bare = row.toBuilder().clearGroups().clearAttachedPolicies();
        boolean isPolicy = row.getKind() == IdentityKind.IDENTITY_POLICY;
        while (bare.getDocumentsCount() > (isPolicy ? 1 : 0)) {
          bare.removeDocuments(bare.getDocumentsCount() - 1);
        }
        submit(TestIdentities.putChanged(bare));
      }
      for (String id : List.copyOf(model.account(account).identities.keySet())) {
        submit(inAccount(account, TestIdentities.deleteIdentity(id)));
      }
      submit(TestIdentities.deleteAccount(account));
    }
  }

  // ---- Reads ----

  private void check() throws Exception {
    assertEquals(
        List.copyOf(model.accounts.keySet()),
        metadata.accounts("", 10).stream().map(value -> value.getAccount().getId()).toList());
    for (IdentityModel.Account account : model.accounts.values()) {
      checkAccount(account);
      for (IdentityRow row : account.identities.values()) {
        checkIdentity(account, row);
      }
      for (IdentityKind kind : KINDS) {
        checkLists(account, kind);
      }
    }
    checkKeys();
  }

  private void checkAccount(IdentityModel.Account account) throws Exception {
    AccountQuery.Builder query = AccountQuery.newBuilder();
    if (!account.row.getEmail().isEmpty()) {
      query.setEmail(IdentityModel.lower(account.row.getEmail()));
    } else if (!account.row.getAlias().isEmpty()) {
      query.setAlias(account.row.getAlias());
    } else {
      query.setCanonicalId(account.row.getCanonicalId());
    }
    AccountValue value = metadata.account(query.build()).orElseThrow();
    assertEquals(account.row.getId(), value.getAccount().getId());
    assertEquals(account.changed, value.getState().getRevision());
  }

  private void checkIdentity(IdentityModel.Account account, IdentityRow expected) throws Exception {
    IdentityRow row =
        metadata
            .identity(expected.getAccount(), expected.getKind(), expected.getName())
            .orElseThrow();
    assertEquals(
        expected.toBuilder().setAttachments((int) account.attachments(expected.getId())).build(),
        row.toBuilder()
            .clearCreatedAtMs()
            .clearChangedAtMs()
            .clearDocuments()
            .addAllDocuments(
                row.getDocumentsList().stream()
                    .map(document -> document.toBuilder().clearCreatedAtMs().build())
                    .toList())
            .build());
    for (IdentityDocument document : row.getDocumentsList()) {
      assertTrue(document.getCreatedAtMs() > 0);
    }
    assertEquals(
        List.of(row), metadata.identities(expected.getAccount(), List.of(expected.getId())));
  }

  private static String sortedBy(IdentityRow row) {
    return IdentityModel.lower(row.getName());
  }

  private void checkLists(IdentityModel.Account account, IdentityKind kind) throws Exception {
    List<IdentityRow> all =
        account.identities.values().stream().filter(row -> row.getKind() == kind).toList();
    IdentityListQuery.Builder query =
        IdentityListQuery.newBuilder().setAccount(account.row.getId()).setKind(kind);
    assertEquals(
        all.stream()
            .sorted(Comparator.comparing(IdentityModelTest::sortedBy))
            .map(IdentityRow::getId)
            .toList(),
        ids(query));
    assertEquals(
        all.stream()
            .filter(row -> row.getPath().startsWith("/a/"))
            .sorted(Comparator.comparing(IdentityModelTest::sortedBy))
            .map(IdentityRow::getId)
            .toList(),
        ids(query.clone().setPathPrefix("/a/")));
    for (IdentityRow other : account.identities.values()) {
      String id = other.getId();
      assertEquals(
          all.stream()
              .filter(row -> row.getGroupsList().contains(id))
              .map(IdentityRow::getId)
              .toList(),
          kind == IdentityKind.IDENTITY_USER ? ids(query.clone().setMemberOf(id)) : List.of());
      assertEquals(
          all.stream()
              .filter(row -> row.getAttachedPoliciesList().contains(id))
              .map(IdentityRow::getId)
              .toList(),
          ids(query.clone().setAttachedTo(id)));
    }
  }

  /** On all pages. */
  private List<String> ids(IdentityListQuery.Builder list) throws Exception {
    List<String> ids = new ArrayList<>();
    IdentityListQuery.Builder query = list.clone().setMax(1 + random.nextInt(4));
    while (true) {
      IdentityPage page = metadata.identities(query.build());
      page.identities().forEach(row -> ids.add(row.getId()));
      if (!page.truncated()) {
        return ids;
      }
      query.setAfter(page.identities().getLast());
    }
  }

  private void checkKeys() throws Exception {
    for (int i = 0; i < 6; i++) {
      String name = "key" + i;
      IdentityModel.Key expected = model.keys.get(name);
      PrincipalQuery.Builder query = PrincipalQuery.newBuilder().setAccessKey(name);
      PrincipalAnswer answer = metadata.principal(query.build());
      if (expected == null) {
        assertEquals(State.ABSENT, answer.getState());
        continue;
      }
      IdentityModel.Account account = model.account(expected.command().getAccount());
      CredentialRow row = answer.getCredential();
      assertEquals(expected.revision(), row.getRevision());
      assertEquals(expected.command().getInactive(), row.getInactive());
      assertEquals(account.changed, answer.getRevision());
      String user = expected.command().getUserId();
      assertEquals(user, answer.getIdentity().getId());
      assertTrue(metadata.accessKeys(account.row.getId(), user).contains(row));
      if (!user.isEmpty()) {
        checkPolicies(account, account.identity(user), answer);
      }
      query.setKnownRevision(answer.getRevision());
      assertEquals(State.UNCHANGED, metadata.principal(query.build()).getState());
    }
  }

  private static void checkPolicies(
      IdentityModel.Account account, IdentityRow user, PrincipalAnswer answer) {
    Set<String> policies = new HashSet<>(user.getAttachedPoliciesList());
    for (String group : user.getGroupsList()) {
      policies.addAll(account.identity(group).getAttachedPoliciesList());
    }
    assertEquals(
        new TreeSet<>(policies),
        new TreeSet<>(answer.getPoliciesList().stream().map(IdentityRow::getId).toList()));
    assertEquals(user.getGroupsCount(), answer.getGroupsCount());
  }
}
