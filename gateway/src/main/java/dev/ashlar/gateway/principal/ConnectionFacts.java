package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Instant;
import java.util.List;

/**
 * The values of condition keys that are known of every request, whoever sends it.
 *
 * @param userAgent empty: none was sent
 */
public record ConnectionFacts(Client client, Instant now, String userAgent)
    implements ConditionContext {
  public static ConnectionFacts of(HttpExchange exchange, Instant now) {
    return new ConnectionFacts(
        exchange.client(), now, exchange.headers().get(HttpHeaderNames.USER_AGENT, ""));
  }

  @Override
  public List<String> values(String key) {
    return switch (key) {
      case "aws:sourceip" -> List.of(client.address());
      case "aws:securetransport" -> List.of(Boolean.toString(client.encrypted()));
      case "aws:currenttime" -> List.of(now.toString());
      case "aws:epochtime" -> List.of(Long.toString(now.getEpochSecond()));
      case "aws:useragent" -> userAgent.isEmpty() ? List.of() : List.of(userAgent);
      default -> List.of();
    };
  }
}
