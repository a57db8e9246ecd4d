package dev.ashlar.gateway.minio;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.auth.FormAuthenticator;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.principal.ConnectionFacts;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.RequestFacts;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Clock;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Answers {@code mc admin info}, refuses the rest of MinIO's administration, and leaves all other
 * requests to S3. MinIO's administration is signed for S3 in no region, which no client does that
 * asks for an object: objects of a bucket with the name {@code minio} are read by signed requests
 * whatever their keys are.
 */
public final class AdminInfoService implements RequestHandler {
  private static final String PREFIX = "/minio/admin/";
  private static final String INFO = PREFIX + "v3/info";
  private static final String SERVICE = "s3";
  private static final Pattern SIGNED_IN_NO_REGION =
      Pattern.compile("[ ,]Credential=[^,]*//" + SERVICE + "/aws4_request *(,|$)");
  private static final byte[] NO_BODY = {};

  /** As MinIO's policies call it. In those of users, {@code *} and {@code NotAction} cover it. */
  private static final String ACTION = "admin:ServerInfo";

  private final RequestHandler others;
  private final VirtualHosts hosts;
  private final FormAuthenticator authenticator;
  private final String operator;
  private final StoreInfo info;
  private final Clock clock;

  /** Describes the store in the form of MinIO's answer. */
  @FunctionalInterface
  public interface StoreInfo {
    /** A JSON document. */
    byte[] json() throws MetadataUnavailableException;
  }

  /**
   * @param operator canonical id of the account whose administrators are told
   */
  public AdminInfoService(
      RequestHandler others,
      VirtualHosts hosts,
      FormAuthenticator authenticator,
      String operator,
      StoreInfo info,
      Clock clock) {
    this.others = others;
    this.hosts = hosts;
    this.authenticator = authenticator;
    this.operator = operator;
    this.info = info;
    this.clock = clock;
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    if (!isOfAdministration(exchange)) {
      return others.handle(exchange);
    }
    if (!isInfo(exchange)) {
      throw notServed(exchange);
    }
    requireAdministrator(exchange);
    try {
      return new HttpAnswer(
          200,
          new DefaultHttpHeaders()
              .set("Content-Type", "application/json")
              .set("Cache-Control", "no-store"),
          new HttpAnswer.Bytes(info.json()));
    } catch (MetadataUnavailableException e) {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
    }
  }

  private boolean isOfAdministration(HttpExchange exchange) {
    if (!exchange.rawPath().startsWith(PREFIX) || hosts.bucket(exchange.headers()) != null) {
      return false;
    }
    String authorization = exchange.headers().get(HttpHeaderNames.AUTHORIZATION);
    return authorization == null
        ? isInfo(exchange) && !exchange.rawQuery().contains("Signature=")
        : SIGNED_IN_NO_REGION.matcher(authorization).find();
  }

  private static boolean isInfo(HttpExchange exchange) {
    return exchange.method().equals("GET") && exchange.rawPath().equals(INFO);
  }

  private static S3Exception notServed(HttpExchange exchange) {
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.operation("Invalid");
      audit.unparsed(exchange.method(), exchange.rawPath());
    }
    return new S3Exception(S3Error.NOT_IMPLEMENTED);
  }

  private void requireAdministrator(HttpExchange exchange) throws S3Exception {
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.operation(ACTION);
    }
    Principal caller = authenticator.authenticate(exchange, NO_BODY, SERVICE);
    if (audit != null) {
      audit.sender(caller.accountId(), caller.arn(), caller.accessKey());
    }
    if (!caller.account().getCanonicalId().equals(operator)) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    ConnectionFacts connection = ConnectionFacts.of(exchange, clock.instant());
    AccessRequest request =
        new AccessRequest(
            caller.requester(), ACTION, "*", new RequestFacts(caller, connection, Map.of()));
    Decision decision = Authorization.decideInOwnAccount(request, caller.policies());
    Denial why = decision.why();
    if (why != null) {
      throw new S3Exception(S3Error.ACCESS_DENIED).deniedBy(why);
    }
    if (audit != null) {
      audit.allowed();
    }
  }
}
