package dev.ashlar.gateway.query;

import dev.ashlar.gateway.principal.ConnectionFacts;

/** A request of a service that nobody has signed. */
public record UnsignedCall(String action, QueryParameters parameters, ConnectionFacts connection) {}
