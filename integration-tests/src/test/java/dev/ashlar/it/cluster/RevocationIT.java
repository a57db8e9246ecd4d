package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedCluster;
import dev.ashlar.it.harness.SigV4;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What one gateway has answered about who may do what counts at every gateway from then on: a
 * request that begins later and is allowed no more is refused, or the gateway answers 503. {@code
 * -Dashlar.revocation.rounds} says how often each kind of revocation is tried.
 */
@ExtendWith(SharedCluster.class)
@Execution(ExecutionMode.SAME_THREAD)
class RevocationIT {
  private static final int ROUNDS = Integer.getInteger("ashlar.revocation.rounds", 2);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String BUCKET = "/revoked";
  private static final String OBJECT = BUCKET + "/k";
  private static final byte[] NOTHING = {};
  private static final byte[] BODY = "secret".getBytes(StandardCharsets.UTF_8);
  private static final String ALLOW_USER =
      "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\","
          + "\"Action\":\"s3:GetObject\",\"Resource\":\"arn:aws:s3:::revoked/*\"}]}";
  private static final String ALLOW_ALL =
      ALLOW_USER.replace("\"Effect\"", "\"Principal\":\"*\",\"Effect\"");
  private static final String BLOCK =
      "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>"
          + "<IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>"
          + "<RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>";

  private final ClusterNodes nodes;
  private final String user = "revoked-" + Seeds.seed("RevocationIT");

  /** Who asks; without an access key nobody in particular. */
  private record Key(String id, String secret) {
    static final Key ROOT = new Key(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY);
    static final Key ANONYMOUS = new Key("", "");
  }

  RevocationIT(ClusterProcess cluster) {
    nodes = cluster.nodes();
  }

  @BeforeAll
  void createUser() throws Exception {
    new AdminPages(nodes).awaitWhole();
    require(200, s3(1, Key.ROOT, "PUT", BUCKET, "", NOTHING));
    require(200, s3(1, Key.ROOT, "PUT", OBJECT, "", BODY));
    iam("CreateUser", Map.of("UserName", user));
  }

  // ---- Requests ----

  private Answer s3(int gateway, Key key, String method, String path, String query, byte[] body)
      throws IOException {
    return send(gateway, key, "s3", method, path, query, body, Map.of());
  }

  private Answer send(
      int gateway,
      Key key,
      String service,
      String method,
      String path,
      String query,
      byte[] body,
      Map<String, String> headers)
      throws IOException {
    try (RawConnection connection = new RawConnection(nodes.gateways().get(gateway - 1), TIMEOUT)) {
      if (key.equals(Key.ANONYMOUS)) {
        connection.writeHead(
            method, path, Map.of("Host", connection.host(), "Content-Length", "0"));
      } else {
        SigV4 signature = new SigV4(Instant.now(), key.id(), key.secret(), service);
        connection.send(signature, method, path, query, body, headers);
      }
      return connection.answer();
    }
  }

  private static void require(int status, Answer answer) {
    assertEquals(status, answer.status(), answer::toString);
  }

  /** By the first gateway, as root. */
  private String iam(String action, Map<String, String> parameters) throws IOException {
    Map<String, String> all = new TreeMap<>(parameters);
    all.put("Action", action);
    all.put("Version", "2010-05-08");
    StringBuilder form = new StringBuilder();
    all.forEach(
        (name, value) ->
            form.append(form.isEmpty() ? "" : "&")
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    Answer answer =
        send(
            1,
            Key.ROOT,
            "iam",
            "POST",
            "/",
            "",
            form.toString().getBytes(StandardCharsets.UTF_8),
            Map.of("content-type", "application/x-www-form-urlencoded; charset=utf-8"));
    require(200, answer);
    return answer.text();
  }

  private Key createKey() throws IOException {
    String answer = iam("CreateAccessKey", Map.of("UserName", user));
    return new Key(element(answer, "AccessKeyId"), element(answer, "SecretAccessKey"));
  }

  private static String element(String xml, String name) {
    int from = xml.indexOf("<" + name + ">") + name.length() + 2;
    return xml.substring(from, xml.indexOf("</" + name + ">")).replace("&amp;", "&");
  }

  private void allowUser() throws IOException {
    iam("PutUserPolicy", Map.of("UserName", user, "PolicyName", "p", "PolicyDocument", ALLOW_USER));
  }

  // ---- Tests ----

  /** Something that is allowed, and how that is revoked. */
  private interface Revocation {
    Key grant() throws IOException;

    void revoke(Key key) throws IOException;
  }

  private static Revocation of(Granting grant, Revoking revoke) {
    return new Revocation() {
      @Override
      public Key grant() throws IOException {
        return grant.run();
      }

      @Override
      public void revoke(Key key) throws IOException {
        revoke.run(key);
      }
    };
  }

  private interface Granting {
    Key run() throws IOException;
  }

  private interface Revoking {
    void run(Key key) throws IOException;
  }

  private Map<String, Revocation> revocations() {
    Map<String, Revocation> all = new TreeMap<>();
    Granting ofUser =
        () -> {
          allowUser();
          return createKey();
        };
    Revoking deleteKey =
        key -> iam("DeleteAccessKey", Map.of("UserName", user, "AccessKeyId", key.id()));
    all.put("a deleted key", of(ofUser, deleteKey));
    all.put(
        "a key that is inactive",
        of(
            ofUser,
            key ->
                iam(
                    "UpdateAccessKey",
                    Map.of("UserName", user, "AccessKeyId", key.id(), "Status", "Inactive"))));
    all.put(
        "a deleted policy of a user",
        of(ofUser, key -> iam("DeleteUserPolicy", Map.of("UserName", user, "PolicyName", "p"))));
    all.put(
        "a policy of a user that denies",
        of(
            ofUser,
            key ->
                iam(
                    "PutUserPolicy",
                    Map.of(
                        "UserName",
                        user,
                        "PolicyName",
                        "p",
                        "PolicyDocument",
                        ALLOW_USER.replace("Allow", "Deny")))));
    all.put(
        "a deleted policy of a bucket",
        of(
            () -> anonymous("policy=", ALLOW_ALL),
            key -> require(204, s3(1, Key.ROOT, "DELETE", BUCKET, "policy=", NOTHING))));
    all.put(
        "a block of public access",
        of(
            () -> anonymous("policy=", ALLOW_ALL),
            key ->
                require(
                    200,
                    s3(
                        1,
                        Key.ROOT,
                        "PUT",
                        BUCKET,
                        "publicAccessBlock=",
                        BLOCK.getBytes(StandardCharsets.UTF_8)))));
    return all;
  }

  private Key anonymous(String query, String document) throws IOException {
    byte[] body = document.getBytes(StandardCharsets.UTF_8);
    Answer answer = s3(1, Key.ROOT, "PUT", BUCKET, query, body);
    assertTrue(answer.status() == 200 || answer.status() == 204, answer::toString);
    return Key.ANONYMOUS;
  }

  /** What tests before have left. */
  private void reset() throws IOException {
    s3(1, Key.ROOT, "DELETE", BUCKET, "publicAccessBlock=", NOTHING);
    s3(1, Key.ROOT, "DELETE", BUCKET, "policy=", NOTHING);
    String keys = iam("ListAccessKeys", Map.of("UserName", user));
    for (String each : keys.split("<member>", -1)) {
      if (each.contains("<AccessKeyId>")) {
        iam(
            "DeleteAccessKey",
            Map.of("UserName", user, "AccessKeyId", element(each, "AccessKeyId")));
      }
    }
  }

  @Test
  void everyGatewayRefusesFromTheAnswerOn() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      for (Map.Entry<String, Revocation> each : revocations().entrySet()) {
        reset();
        Key key = each.getValue().grant();
        for (int gateway : new int[] {1, 2}) {
          require(200, s3(gateway, key, "GET", OBJECT, "", NOTHING));
        }
        revokeUnderLoad(each.getKey(), key, each.getValue());
      }
    }
  }

  /** Clients ask all the time; those that ask after the answer get nothing. */
  private void revokeUnderLoad(String what, Key key, Revocation revocation) throws Exception {
    AtomicLong revokedNanos = new AtomicLong(Long.MAX_VALUE);
    AtomicBoolean isDone = new AtomicBoolean();
    AtomicLong asked = new AtomicLong();
    Queue<Object> wrong = new ConcurrentLinkedQueue<>();
    List<Thread> clients = new ArrayList<>();
    for (int gateway : new int[] {1, 1, 2, 2}) {
      clients.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!isDone.get()) {
                      ask(what, gateway, key, revokedNanos, wrong);
                      asked.incrementAndGet();
                    }
                  }));
    }
    await(asked, 8);
    revocation.revoke(key);
    revokedNanos.set(System.nanoTime());
    await(asked, asked.get() + 12);
    isDone.set(true);
    for (Thread client : clients) {
      client.join();
    }
    assertTrue(wrong.isEmpty(), () -> what + ": " + wrong);
  }

  private static void await(AtomicLong count, long enough) {
    while (count.get() < enough) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
  }

  private void ask(String what, int gateway, Key key, AtomicLong revoked, Queue<Object> wrong) {
    boolean isLater = revoked.get() < Long.MAX_VALUE;
    try {
      Answer answer = s3(gateway, key, "GET", OBJECT, "", NOTHING);
      boolean isRefused = answer.status() == 403 || answer.status() == 503;
      if ((isLater && !isRefused) || (!isRefused && answer.status() != 200)) {
        wrong.add(what + " at gateway " + gateway + ": " + answer);
      }
    } catch (IOException e) {
      wrong.add(e);
    }
  }

  /** A gateway that was away does not go by what it knew. */
  @Test
  void aGatewayThatWasSuspendedRefuses() throws Exception {
    NodeProcess second = nodes.node("gateway-2");
    for (Map.Entry<String, Revocation> each : revocations().entrySet()) {
      reset();
      Key key = each.getValue().grant();
      require(200, s3(2, key, "GET", OBJECT, "", NOTHING));
      second.suspend();
      try {
        each.getValue().revoke(key);
      } finally {
        second.resume();
      }
      int status = s3(2, key, "GET", OBJECT, "", NOTHING).status();
      assertTrue(status == 403 || status == 503, each.getKey() + ": " + status);
    }
  }
}
