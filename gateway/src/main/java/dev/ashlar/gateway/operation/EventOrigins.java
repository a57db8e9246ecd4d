package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.protocol.message.RequestOrigin;

/** What events tell of the request that has caused them. */
final class EventOrigins {
  private EventOrigins() {}

  static RequestOrigin of(HttpExchange exchange, Caller caller) {
    Principal principal = caller.principal();
    return RequestOrigin.newBuilder()
        .setPrincipal(principal == null ? "Anonymous" : principal.userId())
        .setSourceIp(exchange.client().address())
        .setRequestId(exchange.requestId())
        .setForm(exchange instanceof PostForm)
        .build();
  }
}
