package dev.ashlar.gateway.access.policy.condition;

import java.util.Base64;
import java.util.Optional;

/** Bytes in Base64. */
final class Binaries {
  private Binaries() {}

  static Optional<byte[]> parse(String text) {
    try {
      return Optional.of(Base64.getDecoder().decode(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
