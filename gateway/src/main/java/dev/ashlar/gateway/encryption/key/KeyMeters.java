package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.KeyProtection;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;

/** Counts data keys that could not be opened or sealed by a fault of the server's keys. */
final class KeyMeters {
  private final Map<KeyProtection, Counter> unopened = new EnumMap<>(KeyProtection.class);
  private final Map<KeyProtection, Counter> unsealed = new EnumMap<>(KeyProtection.class);

  KeyMeters(MeterRegistry registry) {
    for (KeyProtection kind : KeyProtection.values()) {
      unopened.put(kind, counter(registry, kind, "open"));
      unsealed.put(kind, counter(registry, kind, "seal"));
    }
  }

  private static Counter counter(MeterRegistry registry, KeyProtection kind, String use) {
    return Counter.builder("ashlar.encryption.key.failures")
        .description(
            "Data keys that were not opened or sealed, because a key is missing or wrong, or the"
                + " key service does not answer")
        .tag("key", name(kind))
        .tag("use", use)
        .register(registry);
  }

  private static String name(KeyProtection kind) {
    return switch (kind) {
      case KEY_PROTECTION_MASTER -> "master";
      case KEY_PROTECTION_KMS -> "kms";
      case KEY_PROTECTION_CUSTOMER -> "customer";
      case KEY_PROTECTION_NONE, UNRECOGNIZED -> "unknown";
    };
  }

  /** Counts it unless the client is to blame. Returns it. */
  S3Exception unopened(KeyProtection kind, S3Exception failure) {
    return counted(unopened, kind, failure);
  }

  /** The same of a key that was to be sealed. */
  S3Exception unsealed(KeyProtection kind, S3Exception failure) {
    return counted(unsealed, kind, failure);
  }

  private static S3Exception counted(
      Map<KeyProtection, Counter> counters, KeyProtection kind, S3Exception failure) {
    Counter counter = counters.get(kind);
    if (counter != null && failure.error() == S3Error.SERVICE_UNAVAILABLE) {
      counter.increment();
    }
    return failure;
  }
}
