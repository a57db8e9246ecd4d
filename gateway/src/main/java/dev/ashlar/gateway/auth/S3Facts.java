package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.principal.ConnectionFacts;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.RequestFacts;
import dev.ashlar.gateway.uri.Query;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of condition keys for a request of S3: parameters, headers, and its caller. */
record S3Facts(HttpExchange exchange, RequestFacts caller) implements ConditionContext {
  private static final String HEADER = "s3:x-amz-";

  static S3Facts of(HttpExchange exchange, Principal principal, Instant now) {
    ConnectionFacts connection = ConnectionFacts.of(exchange, now);
    return new S3Facts(exchange, new RequestFacts(principal, connection, Map.of()));
  }

  @Override
  public List<String> values(String key) {
    return switch (key) {
      case "s3:prefix", "s3:delimiter", "s3:max-keys" -> parameter(key.substring(3));
      case "s3:versionid" -> parameter("versionId");
      case "aws:referer" -> header("referer");
      default -> key.startsWith(HEADER) ? header(key.substring(3)) : caller.values(key);
    };
  }

  private List<String> parameter(String name) {
    try {
      return listOf(Query.parse(exchange.rawQuery()).get(name));
    } catch (S3Exception e) {
      return List.of(); // the request is refused, as it cannot be read
    }
  }

  private List<String> header(String name) {
    return listOf(exchange.headers().get(name));
  }

  private static List<String> listOf(@Nullable String value) {
    return value == null ? List.of() : List.of(value);
  }
}
