package dev.ashlar.gateway.iam;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.gateway.auth.FormAuthenticator;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.federation.ProviderKeys;
import dev.ashlar.gateway.principal.Principals;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.gateway.query.QueryApi;
import dev.ashlar.gateway.query.QueryMetrics;
import dev.ashlar.gateway.query.QueryService;
import dev.ashlar.gateway.session.SessionService;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** IAM and STS over metadata in memory, with two accounts and real signatures. */
public final class TestIam {
  public static final String ACCOUNT = "111111111111";
  public static final String OTHER_ACCOUNT = "222222222222";
  public static final String CANONICAL_ID = "a".repeat(64);
  public static final AccessKey ROOT = new AccessKey("ROOTKEY1", "secret-of-root-1", null);
  public static final AccessKey OTHER_ROOT = new AccessKey("ROOTKEY2", "secret-of-root-2", null);

  public final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
  private Instant now = Instant.parse("2026-11-26T12:00:00Z");
  public final Clock clock = new SetClock();
  public final FormAuthenticator authenticator;
  private final QueryService service;

  /** The keys of identity providers; none at first. */
  public ProviderKeys keys = provider -> (selector, context) -> List.of();

  /** Credentials. */
  public record AccessKey(String access, String secret, @Nullable String token) {
    public AccessKey withToken(@Nullable String other) {
      return new AccessKey(access, secret, other);
    }
  }

  private final class SetClock extends Clock {
    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Instant instant() {
      return now;
    }
  }

  public TestIam() throws Exception {
    Principals principals = new Principals(metadata, SecretSeals.NONE, clock);
    authenticator =
        new FormAuthenticator(principals, "eu-test-1", clock, FailedAttempts.unlimited());
    service =
        new QueryService(
            exchange -> {
              throw new S3Exception(S3Error.METHOD_NOT_ALLOWED);
            },
            authenticator,
            Map.of(
                QueryApi.IAM,
                new IamService(metadata, SecretSeals.NONE),
                QueryApi.STS,
                new SessionService(metadata, provider -> keys.of(provider), new SecureRandom())),
            new QueryMetrics(new SimpleMeterRegistry(), IamService.actionNames()),
            clock);
    putAccount(ACCOUNT, "a", ROOT);
    putAccount(OTHER_ACCOUNT, "b", OTHER_ROOT);
  }

  private void putAccount(String id, String digit, AccessKey root) throws Exception {
    AccountRow row =
        AccountRow.newBuilder()
            .setId(id)
            .setCanonicalId(digit.repeat(64))
            .setName("account " + digit)
            .build();
    submit(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(row)));
    submit(
        Command.newBuilder()
            .setPutAccessKey(
                PutAccessKey.newBuilder()
                    .setAccessKey(root.access())
                    .setAccount(id)
                    .setSecret(ByteString.copyFromUtf8(root.secret()))));
  }

  private void submit(Command.Builder command) throws Exception {
    assertEquals(ResultCode.OK, metadata.submit(command).getCode());
  }

  public void advance(Duration time) {
    now = now.plus(time);
  }

  /** An answer: its status and document. */
  public record Answer(int status, String text) {
    /** The text of the first element with this name; empty if there is none. */
    public String value(String element) {
      List<String> all = values(element);
      return all.isEmpty() ? "" : all.getFirst();
    }

    public List<String> values(String element) {
      Matcher matcher = Pattern.compile("<" + element + ">([^<]*)</" + element + ">").matcher(text);
      List<String> all = new ArrayList<>();
      while (matcher.find()) {
        all.add(matcher.group(1));
      }
      return all;
    }

    /** A document, decoded. */
    public String document(String element) {
      return URLDecoder.decode(value(element), UTF_8);
    }

    public AccessKey key() {
      String token = value("SessionToken");
      return new AccessKey(
          value("AccessKeyId"), value("SecretAccessKey"), token.isEmpty() ? null : token);
    }
  }

  /** Sends an action of IAM and requires that it succeeds. */
  public Answer iam(AccessKey key, String action, String... parameters) throws Exception {
    return required(send("iam", key, action, parameters), action);
  }

  /** The same of STS. */
  public Answer sts(AccessKey key, String action, String... parameters) throws Exception {
    return required(send("sts", key, action, parameters), action);
  }

  private static Answer required(Answer answer, String action) {
    assertEquals(200, answer.status(), () -> action + ": " + answer.text());
    return answer;
  }

  public void refused(String code, AccessKey key, String action, String... parameters)
      throws Exception {
    refused(code, "iam", key, action, parameters);
  }

  public void refused(
      String code, String service, AccessKey key, String action, String... parameters)
      throws Exception {
    Answer answer = send(service, key, action, parameters);
    assertEquals(code, answer.value("Code"), () -> action + ": " + answer.text());
  }

  public Answer send(String service, AccessKey key, String action, String... parameters)
      throws Exception {
    return send(signed(service, key, form(action, parameters)));
  }

  /** Sends a request that nobody has signed. */
  public Answer unsigned(String action, String... parameters) throws Exception {
    Request request = new Request(form(action, parameters));
    request.headers().set("content-type", "application/x-www-form-urlencoded");
    return send(request);
  }

  private static byte[] form(String action, String... parameters) {
    StringBuilder form = new StringBuilder("Action=" + action);
    for (int i = 0; i < parameters.length; i += 2) {
      form.append('&').append(URLEncoder.encode(parameters[i], UTF_8));
      form.append('=').append(URLEncoder.encode(parameters[i + 1], UTF_8));
    }
    return form.toString().getBytes(UTF_8);
  }

  public Answer send(Request request) throws Exception {
    HttpAnswer answer = service.handle(request);
    String text = new String(((HttpAnswer.Bytes) answer.body()).content(), UTF_8);
    return new Answer(answer.status(), text);
  }

  /** Creates a user with an access key and, unless it is null, an inline policy. */
  public AccessKey user(AccessKey root, String name, @Nullable String policy) throws Exception {
    iam(root, "CreateUser", "UserName", name);
    if (policy != null) {
      iam(root, "PutUserPolicy", "UserName", name, "PolicyName", "own", "PolicyDocument", policy);
    }
    return iam(root, "CreateAccessKey", "UserName", name).key();
  }

  public static String allow(String actions, String resource) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\""
        + actions
        + "\",\"Resource\":\""
        + resource
        + "\"}]}";
  }

  public static String trust(String principal) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\""
        + principal
        + "\"},\"Action\":[\"sts:AssumeRole\",\"sts:TagSession\"]}]}";
  }

  /** A signed request. */
  public Request signed(String service, AccessKey key, byte[] body) {
    Request request = new Request(body);
    request.headers().set("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    return signed("us-east-1/" + service, key, request);
  }

  /** A signed request without a body. */
  public Request signed(String scope, AccessKey key, String method, String path, String query) {
    return signed(scope, key, new Request(method, path, query));
  }

  /**
   * @param where region and service
   */
  private Request signed(String where, AccessKey key, Request request) {
    String timestamp = now.toString().replaceAll("[-:]", "").replaceAll("\\.\\d+", "");
    String scope = timestamp.substring(0, 8) + "/" + where + "/aws4_request";
    TreeMap<String, String> headers = new TreeMap<>();
    request.headers().forEach(each -> headers.put(each.getKey(), each.getValue()));
    headers.put("host", "s3.test");
    headers.put("x-amz-date", timestamp);
    if (key.token() != null) {
      headers.put("x-amz-security-token", key.token());
    }
    StringBuilder canonical =
        new StringBuilder(request.method + "\n" + request.path + "\n" + request.query + "\n");
    headers.forEach((name, value) -> canonical.append(name + ":" + value + "\n"));
    headers.forEach(request.headers()::set);
    String names = String.join(";", headers.keySet());
    canonical.append("\n" + names + "\n" + sha256(request.body));
    String toSign =
        "AWS4-HMAC-SHA256\n"
            + timestamp
            + "\n"
            + scope
            + "\n"
            + sha256(canonical.toString().getBytes(UTF_8));
    byte[] signing = ("AWS4" + key.secret()).getBytes(UTF_8);
    for (String step : scope.split("/", -1)) {
      signing = hmac(signing, step);
    }
    request
        .headers()
        .set(
            "authorization",
            "AWS4-HMAC-SHA256 Credential="
                + key.access()
                + "/"
                + scope
                + ", SignedHeaders="
                + names
                + ", Signature="
                + HexFormat.of().formatHex(hmac(signing, toSign)));
    return request;
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A request in memory. */
  public static final class Request implements HttpExchange {
    private final HttpHeaders headers = new DefaultHttpHeaders();
    private final String method;
    private final String path;
    private final String query;
    private byte[] body;
    private Client client = new Client("192.0.2.1", false);
    private boolean isRead;

    Request(byte[] body) {
      this("POST", "/", "");
      this.body = body;
    }

    public Request(String method, String path, String query) {
      this.method = method;
      this.path = path;
      this.query = query;
      this.body = new byte[0];
    }

    /** Another body than was signed. */
    public Request replaceBody(byte[] other) {
      body = other;
      return this;
    }

    public Request from(Client other) {
      client = other;
      return this;
    }

    @Override
    public Client client() {
      return client;
    }

    @Override
    public String method() {
      return method;
    }

    @Override
    public String rawPath() {
      return path;
    }

    @Override
    public String rawQuery() {
      return query;
    }

    @Override
    public HttpHeaders headers() {
      return headers;
    }

    @Override
    public String requestId() {
      return "0123456789ABCDEF";
    }

    @Override
    public void onEnd(Runnable action) {}

    @Override
    public RequestBody body() {
      return new RequestBody() {
        @Override
        public long length() {
          return body.length;
        }

        @Override
        public @Nullable ByteBuf read() {
          if (isRead) {
            return null;
          }
          isRead = true;
          return Unpooled.wrappedBuffer(body);
        }
      };
    }
  }
}
