package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.principal.ConnectionFacts;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.RequestFacts;
import dev.ashlar.gateway.uri.Query;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of condition keys for a request of S3: parameters, headers, and its caller. */
public record S3Facts(HttpExchange exchange, RequestFacts caller) implements ConditionContext {
  private static final String HEADER = "s3:x-amz-";

  /**
   * @param principal null: anonymous
   */
  public static S3Facts of(HttpExchange exchange, @Nullable Principal principal, Instant now) {
    ConnectionFacts connection = ConnectionFacts.of(exchange, now);
    return new S3Facts(exchange, new RequestFacts(principal, connection, Map.of()));
  }

  @Override
  public List<String> values(String key) {
    return switch (key) {
      case "s3:prefix", "s3:delimiter", "s3:max-keys" -> parameter(key.substring(3));
      case "s3:versionid" -> parameter("versionId");
      case "aws:referer" -> listOf(exchange.headers().get(HttpHeaderNames.REFERER));
      case "s3:authtype" -> authType();
      case "s3:signatureversion" -> signatureVersion();
      case "s3:signatureage" -> signatureAge();
      default -> key.startsWith(HEADER) ? header(key.substring(3)) : caller.values(key);
    };
  }

  /** How the request is signed; no value for one that is not. */
  private List<String> authType() {
    if (caller.caller() == null) {
      return List.of();
    }
    if (exchange instanceof PostForm) {
      return List.of("POST");
    }
    return List.of(
        exchange.headers().contains(HttpHeaderNames.AUTHORIZATION)
            ? "REST-HEADER"
            : "REST-QUERY-STRING");
  }

  private List<String> signatureVersion() {
    if (caller.caller() == null) {
      return List.of();
    }
    String authorization = exchange.headers().get(HttpHeaderNames.AUTHORIZATION);
    boolean isVersion2 =
        exchange instanceof PostForm form
            ? !FormSignature.isVersion4(form)
            : authorization == null
                ? !parameter("AWSAccessKeyId").isEmpty()
                : authorization.startsWith(SigV2Claim.SCHEME);
    return List.of(isVersion2 ? "AWS" : SigV4Authenticator.ALGORITHM);
  }

  /** Milliseconds since the request was signed, where it says when; not before now. */
  private List<String> signatureAge() {
    if (caller.caller() == null) {
      return List.of();
    }
    HttpHeaders headers = exchange.headers();
    // Where the signature is: the other place need not be signed.
    List<String> found =
        exchange instanceof PostForm form
            ? listOf(form.field("x-amz-date"))
            : headers.contains(HttpHeaderNames.AUTHORIZATION)
                ? listOf(headers.get(AmzHeaderNames.DATE, headers.get(HttpHeaderNames.DATE, "")))
                : parameter("X-Amz-Date");
    String text = found.isEmpty() ? "" : found.getFirst();
    String basic = Timestamps.fromHttpDate(text);
    Instant signed = Timestamps.parse(basic == null ? text : basic);
    if (signed == null) {
      return List.of();
    }
    Duration age = Duration.between(signed, caller.connection().now());
    return List.of(Long.toString(Math.max(0, age.toMillis())));
  }

  private List<String> parameter(String name) {
    try {
      return listOf(Query.parse(exchange.rawQuery()).get(name));
    } catch (S3Exception e) {
      return List.of(); // the request is refused, as it cannot be read
    }
  }

  /** Signers of URLs put headers into the query, where they count as well. */
  private List<String> header(String name) {
    if (CustomerFields.isKey(name) || !AmzHeaderNames.mayBeOfS3(name)) {
      return List.of(); // policies are no place for keys of clients, nor for what is ignored
    }
    List<String> values = exchange.headers().getAll(name);
    if (!values.isEmpty() || exchange.rawQuery().isEmpty()) {
      // A header sent twice is one with both values, as in HTTP.
      return values.size() < 2 ? values : List.of(String.join(",", values));
    }
    try {
      Query query = Query.parse(exchange.rawQuery());
      for (int i = 0; i < query.size(); i++) {
        if (query.name(i).equalsIgnoreCase(name)) {
          return List.of(query.value(i).trim());
        }
      }
      return List.of();
    } catch (S3Exception e) {
      return List.of(); // the request is refused, as it cannot be read
    }
  }

  private static List<String> listOf(@Nullable String value) {
    return value == null ? List.of() : List.of(value);
  }
}
