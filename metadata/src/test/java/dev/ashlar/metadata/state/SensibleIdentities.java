package dev.ashlar.metadata.state;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Commands on accounts, identities and access keys as gateways send them: two accounts, few names,
 * so that they meet each other.
 */
final class SensibleIdentities {
  private static final String OTHER_ACCOUNT = "999900001111";
  private static final int NAMES = 3;

  private final Random random;

  SensibleIdentities(Random random) {
    this.random = random;
  }

  private String name() {
    return "n" + random.nextInt(NAMES);
  }

  Command.Builder next(MemoryMetadata metadata) throws Exception {
    return switch (random.nextInt(12)) {
      case 0, 1 -> putAccount(metadata, TestIdentities.ACCOUNT);
      case 2 -> putAccount(metadata, OTHER_ACCOUNT);
      case 3 ->
          TestIdentities.deleteAccount(
              random.nextInt(8) == 0 ? TestIdentities.ACCOUNT : OTHER_ACCOUNT);
      case 4, 5, 6 -> putIdentity(metadata);
      case 7 -> TestIdentities.deleteIdentity(identity().getId());
      case 8, 9 -> putKey(metadata);
      case 10 -> TestIdentities.deleteKey(keyName());
      default -> {
        Command.Builder bucket = Command.newBuilder();
        bucket
            .getCreateBucketBuilder()
            .setName(name())
            .setOwner(TestIdentities.canonicalId(OTHER_ACCOUNT));
        yield bucket;
      }
    };
  }

  private Command.Builder putAccount(MemoryMetadata metadata, String id) throws Exception {
    Optional<AccountValue> present = metadata.account(AccountQuery.newBuilder().setId(id).build());
    return present.isPresent()
        ? TestIdentities.putChanged(present.get().getAccount().toBuilder().setAlias(alias()))
        : TestIdentities.putNew(TestIdentities.account(id));
  }

  private String alias() {
    return random.nextBoolean() ? "" : "alias-" + name();
  }

  private IdentityRow.Builder identity() {
    String name = name();
    return switch (random.nextInt(5)) {
      case 0 -> TestIdentities.user(name);
      case 1 -> TestIdentities.group(name);
      case 2 -> TestIdentities.role(name);
      case 3 -> TestIdentities.policy(name);
      default -> TestIdentities.provider(name);
    };
  }

  /** Creates an identity or changes the one that is there, with other references and documents. */
  private Command.Builder putIdentity(MemoryMetadata metadata) throws Exception {
    IdentityRow.Builder wanted = identity();
    List<IdentityRow> present =
        metadata.identities(TestIdentities.ACCOUNT, List.of(wanted.getId()));
    if (!present.isEmpty()) {
      wanted = present.getFirst().toBuilder().setPath(random.nextBoolean() ? "/" : "/x/");
    }
    switch (wanted.getKind()) {
      case IDENTITY_USER -> {
        withPolicies(wanted).clearGroups();
        if (random.nextBoolean()) {
          wanted.addGroups(TestIdentities.group(name()).getId());
        }
      }
      case IDENTITY_GROUP, IDENTITY_ROLE -> withPolicies(wanted);
      default -> {}
    }
    return TestIdentities.putChanged(wanted);
  }

  private IdentityRow.Builder withPolicies(IdentityRow.Builder row) {
    row.clearAttachedPolicies().clearDocuments();
    if (random.nextInt(3) == 0) {
      row.addAttachedPolicies(TestIdentities.policy(name()).getId());
    }
    return random.nextInt(3) == 0 ? row.addDocuments(TestIdentities.document(name())) : row;
  }

  private String keyName() {
    return "key" + random.nextInt(4);
  }

  private Command.Builder putKey(MemoryMetadata metadata) throws Exception {
    String user = random.nextBoolean() ? "" : TestIdentities.user(name()).getId();
    List<CredentialRow> present = metadata.accessKeys(TestIdentities.ACCOUNT, user);
    return TestIdentities.put(
        present.isEmpty() || random.nextBoolean()
            ? TestIdentities.key(keyName(), user)
            : TestIdentities.key(present.getFirst()).setInactive(random.nextBoolean()));
  }
}
