package dev.ashlar.gateway.principal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import org.junit.jupiter.api.Test;

class RootAccountTest {
  private static final String OWNER = "0123456789abcdef0123456789abcdef";
  private final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);

  private Principals principals(String accessKey, String secret) {
    return new Principals(
        new RootAccount(metadata, accessKey, secret, OWNER), SecretSeals.NONE, Clock.systemUTC());
  }

  private static Principals.Found.Signer signer(Principals principals, String accessKey)
      throws Exception {
    return assertInstanceOf(
        Principals.Found.Signer.class, principals.find(accessKey, null), accessKey);
  }

  @Test
  void accountIsCreatedOnceAndOutlivesTheKey() throws Exception {
    Principals principals = principals("FIRST", "secret-1");
    Principal root = signer(principals, "FIRST").principal();
    assertEquals("arn:aws:iam::" + root.accountId() + ":root", root.arn());
    assertEquals(OWNER, root.account().getCanonicalId());
    assertEquals(root.accountId(), signer(principals, "FIRST").principal().accountId());
    Principals restarted = principals("SECOND", "secret-2");
    Principals.Found.Signer again = signer(restarted, "SECOND");
    assertEquals(root.accountId(), again.principal().accountId());
    assertEquals("secret-2", again.secretKey());
    assertEquals(
        new Principals.Found.Nobody(Principals.Fault.UNKNOWN_KEY), restarted.find("FIRST", null));
  }

  @Test
  void unknownKeyCreatesNoAccount() throws Exception {
    principals("FIRST", "secret-1").find("OTHER", null);
    assertEquals(
        0,
        metadata
            .account(AccountQuery.newBuilder().setCanonicalId(OWNER).build())
            .map(found -> found.getAccount())
            .map(AccountRow::getId)
            .orElse("")
            .length());
  }
}
