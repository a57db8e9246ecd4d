package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many attempts to authenticate may fail for each network that they come from. An access
 * key with which requests of a network have succeeded lately is not limited there, so that others
 * behind the same proxy cannot shut it out.
 *
 * <p>Only failures are charged, when they are known: requests that are being authenticated at that
 * moment, as many as the server admits at a time, may exceed the limit. What exceeds it delays the
 * next attempts. Thread-safe.
 */
public final class FailedAttempts {
  private static final long WINDOW_NANOS = Duration.ofMinutes(1).toNanos();
  private static final long PROVEN_NANOS = Duration.ofHours(1).toNanos();

  /** How exactly it is known when a key has succeeded: one write to memory in that time. */
  private static final long PROVEN_AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

  private static final int NETWORKS_MAX = 16_384;
  private static final int KEYS_MAX = 4096;

  /** Of a full table, so many entries go at once. */
  private static final int EVICTED = 256;

  private final long intervalNanos;
  private final LongSupplier nanoTime;
  private final Map<String, Network> networks = new ConcurrentHashMap<>();
  private final LongAdder failed = new LongAdder();
  private final LongAdder refused = new LongAdder();

  /** Where requests come from. */
  private final class Network {
    /** When the failures so far have been paid for, one each interval. */
    final AtomicLong paidNanos = new AtomicLong(nanoTime.getAsLong());

    /** Access keys with which requests have succeeded, and when. */
    final Map<String, Long> proven = new ConcurrentHashMap<>();

    boolean isProven(String accessKey) {
      Long when = proven.get(accessKey);
      return when != null && isLately(when);
    }

    private boolean isLately(long nanos) {
      return nanoTime.getAsLong() - nanos < PROVEN_NANOS;
    }

    /** Whether no other attempt may fail now. */
    boolean isExhausted() {
      long now = nanoTime.getAsLong();
      return later(paidNanos.get(), now) + intervalNanos - now > WINDOW_NANOS;
    }

    void failed() {
      long now = nanoTime.getAsLong();
      paidNanos.updateAndGet(paid -> later(paid, now) + intervalNanos);
    }

    private static long later(long nanos, long otherNanos) {
      return nanos - otherNanos > 0 ? nanos : otherNanos;
    }

    void succeeded(String accessKey) {
      long now = nanoTime.getAsLong();
      Long when = proven.get(accessKey);
      if (when == null || now - when > PROVEN_AGAIN_NANOS) {
        if (when == null && proven.size() >= KEYS_MAX) {
          forget(now);
        }
        proven.put(accessKey, now);
      }
    }

    /** Forgets the keys that are not proven any more, else those that were longest ago. */
    private void forget(long now) {
      proven.values().removeIf(when -> !isLately(when));
      if (proven.size() >= KEYS_MAX) {
        proven.entrySet().stream()
            .sorted(Comparator.comparingLong(each -> each.getValue() - now))
            .limit(EVICTED)
            .map(Map.Entry::getKey)
            .toList()
            .forEach(proven::remove);
      }
    }

    boolean isIdle() {
      return nanoTime.getAsLong() - paidNanos.get() > 0
          && proven.values().stream().noneMatch(this::isLately);
    }
  }

  /** One attempt of a client. */
  public final class Attempt {
    private final @Nullable Network network;
    private final String accessKey;
    private final boolean isLimited;

    private Attempt(@Nullable Network network, String accessKey, boolean isLimited) {
      this.network = network;
      this.accessKey = accessKey;
      this.isLimited = isLimited;
    }

    /** The signature is the right one, and the secret still valid. */
    public void succeeded() {
      if (network != null) {
        network.succeeded(accessKey);
      }
    }

    /** The credentials are wrong. */
    public void failed() {
      failed.increment();
      if (network != null && isLimited) {
        network.failed();
      }
    }

    /** The attempt has ended with an error, which is a failure or not. */
    S3Exception ended(S3Exception e) {
      if (isFailure(e.error())) {
        failed();
      }
      return e;
    }
  }

  /**
   * @param perMinute for each network; 0: without limit
   * @param nanoTime as {@link System#nanoTime}
   */
  public FailedAttempts(int perMinute, LongSupplier nanoTime) {
    this.intervalNanos = perMinute == 0 ? 0 : WINDOW_NANOS / perMinute;
    this.nanoTime = nanoTime;
  }

  /** Without limit. */
  public static FailedAttempts unlimited() {
    return new FailedAttempts(0, System::nanoTime);
  }

  /**
   * Shows the counts as metrics.
   *
   * @param port to which the requests come
   */
  public FailedAttempts measuredBy(MeterRegistry meters, String port) {
    FunctionCounter.builder("ashlar.auth.failed", failed, LongAdder::sum)
        .description("Requests with an unknown access key, a wrong signature or an invalid token")
        .tag("port", port)
        .register(meters);
    FunctionCounter.builder("ashlar.auth.refused", refused, LongAdder::sum)
        .description("Requests refused unseen, because too many of their network have failed")
        .tag("port", port)
        .register(meters);
    return this;
  }

  private static boolean isFailure(S3Error error) {
    return error == S3Error.INVALID_ACCESS_KEY_ID
        || error == S3Error.SIGNATURE_DOES_NOT_MATCH
        || error == S3Error.INVALID_TOKEN;
  }

  /**
   * To be called before a secret is looked up.
   *
   * @param accessKey that the request names
   * @throws S3Exception SlowDown, if too many attempts of the network have failed
   */
  public Attempt begin(Client client, String accessKey) throws S3Exception {
    if (intervalNanos == 0) {
      return new Attempt(null, accessKey, false);
    }
    Network network = network(client.network());
    if (network.isProven(accessKey)) {
      return new Attempt(network, accessKey, false);
    }
    if (!network.isExhausted()) {
      return new Attempt(network, accessKey, true);
    }
    refused.increment();
    throw new S3Exception(
            S3Error.SLOW_DOWN,
            "Too many requests from "
                + client.network()
                + " had wrong credentials. Please try again later.")
        .with("AWSAccessKeyId", accessKey)
        .deniedBy(Denial.ATTEMPTS);
  }

  private Network network(String name) {
    Network known = networks.get(name);
    if (known != null) {
      return known;
    }
    if (networks.size() >= NETWORKS_MAX) {
      networks.values().removeIf(Network::isIdle);
      evict(networks.size() - NETWORKS_MAX + EVICTED);
    }
    return networks.computeIfAbsent(name, any -> new Network());
  }

  private void evict(int count) {
    Iterator<?> each = networks.keySet().iterator();
    for (int i = 0; i < count && each.hasNext(); i++) {
      each.next();
      each.remove();
    }
  }

  /** How many networks are known. */
  int networkCount() {
    return networks.size();
  }
}
