package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.PrincipalAnswer;

/**
 * What a read found, and its caller as of the same snapshot: a principal that a gateway has cached
 * is confirmed or replaced without a second read.
 */
public record Confirmed<T>(T value, PrincipalAnswer caller) {}
