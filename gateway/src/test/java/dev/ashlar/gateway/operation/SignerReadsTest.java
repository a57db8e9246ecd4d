package dev.ashlar.gateway.operation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.principal.Principals;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteAccessKey;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.PutIdentity;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Callers that are stored, with real signatures: what they cost, and that a change counts at once.
 */
class SignerReadsTest {
  private static final String ACCOUNT = "111111111111";
  private static final String USER_ID = "AIDAUSER";
  private static final String TIME = "20261126T120000Z";
  private static final String SCOPE = "20261126/us-east-1/s3/aws4_request";

  private final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
  private final MemoryObjectStore store = new MemoryObjectStore(metadata);
  private final List<String> calls = new ArrayList<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final S3Service service = service();

  private S3Service service() {
    Clock clock = Clock.fixed(Instant.parse("2026-11-26T12:00:00Z"), ZoneOffset.UTC);
    MetadataClient counted = counted();
    return new S3Service(
        new SigV4Authenticator(
            key -> Optional.empty(),
            new Principals(counted, SecretSeals.NONE, clock),
            "us-east-1",
            clock,
            FailedAttempts.unlimited().measuredBy(meters, "s3")),
        counted,
        store,
        new S3Config("us-east-1", new VirtualHosts(List.of("s3.test")), "Owner"),
        TestKeys.encryptions(),
        EventTargets.NONE,
        new SimpleMeterRegistry(),
        clock,
        new Random(1));
  }

  private MetadataClient counted() {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              calls.add(method.getName());
              try {
                return method.invoke(metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @BeforeEach
  void storeSomething() throws Exception {
    AccountRow account =
        AccountRow.newBuilder()
            .setId(ACCOUNT)
            .setCanonicalId("a".repeat(64))
            .setName("account")
            .build();
    submit(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(account)));
    putKey("ROOT", "", "root-secret", false);
    putUser("s3:*");
    putKey("USER", USER_ID, "user-secret", false);
    assertEquals("", send("PUT", "/bkt", "ROOT", "root-secret"));
    assertEquals("", send("PUT", "/bkt/k", "ROOT", "root-secret"));
  }

  private CredentialRow row(String key) throws Exception {
    return metadata
        .principal(PrincipalQuery.newBuilder().setAccessKey(key).build())
        .getCredential();
  }

  private void putKey(String key, String user, String secret, boolean isInactive) throws Exception {
    submit(
        Command.newBuilder()
            .setPutAccessKey(
                PutAccessKey.newBuilder()
                    .setAccessKey(key)
                    .setAccount(ACCOUNT)
                    .setUserId(user)
                    .setSecret(ByteString.copyFromUtf8(secret))
                    .setInactive(isInactive)
                    .setExpectedRevision(row(key).getRevision())));
  }

  private void putUser(String action) throws Exception {
    putUserWith(
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\""
            + action
            + "\",\"Resource\":\"*\"}]}");
  }

  private void putUserWith(String policy) throws Exception {
    long revision =
        metadata
            .identity(ACCOUNT, IdentityKind.IDENTITY_USER, "alice")
            .map(IdentityRow::getRevision)
            .orElse(0L);
    IdentityRow user =
        IdentityRow.newBuilder()
            .setKind(IdentityKind.IDENTITY_USER)
            .setAccount(ACCOUNT)
            .setId(USER_ID)
            .setName("alice")
            .setPath("/")
            .addDocuments(IdentityDocument.newBuilder().setName("own").setText(policy))
            .build();
    submit(
        Command.newBuilder()
            .setPutIdentity(
                PutIdentity.newBuilder().setIdentity(user).setExpectedRevision(revision)));
  }

  private void submit(Command.Builder command) throws Exception {
    assertEquals(ResultCode.OK, metadata.submit(command).getCode());
  }

  /** The error code, or nothing. */
  private String send(String method, String uri, String key, String secret) throws Exception {
    return send(TestS3.request(method, uri), key, secret);
  }

  private String send(TestRequest unsigned, String key, String secret) throws Exception {
    TestRequest request = sign(unsigned, key, secret);
    try {
      service.handle(request);
      return "";
    } catch (S3Exception e) {
      return e.error().code();
    } finally {
      request.end();
    }
  }

  private static TestRequest sign(TestRequest request, String key, String secret)
      throws GeneralSecurityException {
    request.header("x-amz-date", TIME).header("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
    // In the order of their names, which is also the order in which tests add others.
    StringBuilder headers =
        new StringBuilder("host:s3.test\nx-amz-content-sha256:UNSIGNED-PAYLOAD");
    headers.append("\nx-amz-date:" + TIME + "\n");
    String names = "host;x-amz-content-sha256;x-amz-date";
    for (String name : List.of("x-amz-tagging")) {
      if (request.headers().contains(name)) {
        headers.append(name + ":" + request.headers().get(name) + "\n");
        names += ";" + name;
      }
    }
    String canonical =
        "%s\n%s\n%s\n%s\n%s\n%s"
            .formatted(
                request.method(),
                request.rawPath(),
                request.rawQuery(),
                headers,
                names,
                "UNSIGNED-PAYLOAD");
    HexFormat hex = HexFormat.of();
    String hash =
        hex.formatHex(MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(UTF_8)));
    byte[] signing = ("AWS4" + secret).getBytes(UTF_8);
    for (String step : SCOPE.split("/", -1)) {
      signing = hmac(signing, step);
    }
    String toSign = "AWS4-HMAC-SHA256\n" + TIME + "\n" + SCOPE + "\n" + hash;
    return request.header(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential="
            + (key + "/" + SCOPE + ", SignedHeaders=" + names)
            + (", Signature=" + hex.formatHex(hmac(signing, toSign))));
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(UTF_8));
  }

  @Test
  void aReadOfAnObjectIsOneReadOfMetadata() throws Exception {
    for (String key : List.of("ROOT", "USER")) {
      String secret = key.equals("ROOT") ? "root-secret" : "user-secret";
      assertEquals("", send("GET", "/bkt/k", key, secret));
      calls.clear();
      assertEquals("", send("GET", "/bkt/k", key, secret));
      assertEquals("", send("HEAD", "/bkt/k", key, secret));
      assertEquals("", send("HEAD", "/bkt", key, secret));
      assertEquals(List.of("object", "object", "bucket"), calls, key);
    }
  }

  @Test
  void whatARequestBringsCountsForCallersThatAreKnownAlready() throws Exception {
    putUserWith(
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"},"
            + "{\"Effect\":\"Deny\",\"Action\":\"s3:PutObject\",\"Resource\":\"*\",\"Condition\":"
            + "{\"StringEquals\":{\"s3:RequestObjectTag/secret\":\"yes\"}}}]}");
    for (int i = 0; i < 3; i++) {
      assertEquals("", send("PUT", "/bkt/k", "USER", "user-secret"));
      assertEquals(
          "AccessDenied",
          send(
              TestS3.request("PUT", "/bkt/k").header("x-amz-tagging", "secret=yes"),
              "USER",
              "user-secret"));
    }
  }

  @Test
  void aChangeOfPoliciesCountsAtOnce() throws Exception {
    assertEquals("", send("GET", "/bkt/k", "USER", "user-secret"));
    putUser("s3:ListBucket");
    assertEquals("AccessDenied", send("GET", "/bkt/k", "USER", "user-secret"));
    assertEquals("", send("GET", "/bkt", "USER", "user-secret"));
    assertEquals("AccessDenied", send("GET", "/", "USER", "user-secret"));
    putUser("s3:*");
    assertEquals("", send("GET", "/bkt/k", "USER", "user-secret"));
  }

  /** As S3's guide writes such policies; a Deny that did not match would let the caller in. */
  @Test
  void policiesNameTheListOfBucketsAsAllBuckets() throws Exception {
    String all = "\"Action\":\"s3:ListAllMyBuckets\",\"Resource\":\"arn:aws:s3:::*\"}";
    putUserWith("{\"Statement\":[{\"Effect\":\"Allow\"," + all + "]}");
    assertEquals("", send("GET", "/", "USER", "user-secret"));
    putUserWith(
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"},"
            + "{\"Effect\":\"Deny\","
            + all
            + "]}");
    assertEquals("AccessDenied", send("GET", "/", "USER", "user-secret"));
    putUserWith("{\"Statement\":[{\"Effect\":\"Allow\"," + all.replace(":::*", ":::b*") + "]}");
    assertEquals("AccessDenied", send("GET", "/", "USER", "user-secret"));
  }

  @Test
  void whatEndsAKeyEndsItForEveryOperation() throws Exception {
    List<String> uris = List.of("/bkt/k", "/bkt", "/", "/bkt?acl=");
    for (String uri : uris) {
      assertEquals("", send("GET", uri, "USER", "user-secret"));
    }
    putKey("USER", USER_ID, "user-secret", true);
    for (String uri : uris) {
      assertEquals("InvalidAccessKeyId", send("GET", uri, "USER", "user-secret"));
      putKey("USER", USER_ID, "user-secret", false);
      assertEquals("", send("GET", uri, "USER", "user-secret"));
      putKey("USER", USER_ID, "user-secret", true);
    }
    assertEquals("InvalidAccessKeyId", send("PUT", "/new", "USER", "user-secret"));
    putKey("USER", USER_ID, "user-secret", false);
    assertEquals("", send("PUT", "/bkt/new", "USER", "user-secret"));
    submit(
        Command.newBuilder()
            .setDeleteAccessKey(
                DeleteAccessKey.newBuilder().setAccount(ACCOUNT).setAccessKey("USER")));
    assertEquals("InvalidAccessKeyId", send("PUT", "/bkt/new", "USER", "user-secret"));
    assertEquals("InvalidAccessKeyId", send("DELETE", "/bkt/k", "USER", "user-secret"));
    assertEquals("", send("GET", "/bkt/k", "ROOT", "root-secret"));
  }

  @Test
  void anotherSecretCountsAtOnce() throws Exception {
    assertEquals("", send("GET", "/bkt/k", "USER", "user-secret"));
    putKey("USER", USER_ID, "other-secret", false);
    assertEquals("SignatureDoesNotMatch", send("GET", "/bkt/k", "USER", "user-secret"));
    assertEquals("", send("GET", "/bkt/k", "USER", "other-secret"));
    assertEquals("SignatureDoesNotMatch", send("GET", "/bkt/k", "USER", "user-secret"));
    assertEquals(2, meters.get("ashlar.auth.failed").functionCounter().count());
    putKey("USER", USER_ID, "user-secret", false);
    assertEquals("", send("GET", "/bkt/k", "USER", "user-secret"));
  }
}
