package dev.ashlar.gateway.auth;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FailedAttemptsTest {
  private static final int LIMIT = 10;

  /** About to overflow. */
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1000);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FailedAttempts attempts =
      new FailedAttempts(LIMIT, nanos::get).measuredBy(meters, "s3");

  private static Client client(String address) throws Exception {
    return Client.of(new InetSocketAddress(InetAddress.getByName(address), 1), false);
  }

  private void fail(String address, String key) throws Exception {
    attempts.begin(client(address), key).ended(new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH));
  }

  private void succeed(String address, String key) throws Exception {
    attempts.begin(client(address), key).succeeded();
  }

  private void exhaust(String address) throws Exception {
    for (int i = 0; i < LIMIT; i++) {
      fail(address, "guess" + i);
    }
  }

  private void assertRefused(String address, String key) throws Exception {
    Client client = client(address);
    S3Exception e = assertThrows(S3Exception.class, () -> attempts.begin(client, key));
    assertEquals(S3Error.SLOW_DOWN, e.error());
    assertEquals(Denial.ATTEMPTS, e.denial());
  }

  @Test
  void anAddressThatFailsTooOftenIsRefusedForAWhile() throws Exception {
    exhaust("192.0.2.1");
    assertRefused("192.0.2.1", "guess");
    assertRefused("192.0.2.1", "guess0");
    assertEquals(LIMIT, meters.get("ashlar.auth.failed").functionCounter().count());
    assertEquals(2, meters.get("ashlar.auth.refused").functionCounter().count());
    nanos.addAndGet(Duration.ofSeconds(60 / LIMIT).toNanos());
    fail("192.0.2.1", "guess");
    assertRefused("192.0.2.1", "guess");
    nanos.addAndGet(Duration.ofMinutes(1).toNanos());
    exhaust("192.0.2.1");
    assertRefused("192.0.2.1", "guess");
  }

  @Test
  void otherAddressesAreNotRefused() throws Exception {
    exhaust("192.0.2.1");
    fail("192.0.2.2", "guess");
    fail("2001:db8::1", "guess");
  }

  @Test
  void aNetworkOfIpv6CountsAsOneAddress() throws Exception {
    for (int i = 0; i < LIMIT; i++) {
      fail("2001:db8:1:2:" + i + "::" + i, "guess");
    }
    assertRefused("2001:db8:1:2:ffff::1", "guess");
    fail("2001:db8:1:3::1", "guess");
    fail("::1", "guess");
    assertEquals("2001:db8:1:2", client("2001:db8:1:2::1%0").network());
    assertEquals("192.0.2.1", client("::ffff:192.0.2.1").network(), "an IPv4 address in IPv6");
  }

  @Test
  void clientsBehindTheSameProxyThatHaveSucceededGoOn() throws Exception {
    succeed("192.0.2.1", "honest");
    exhaust("192.0.2.1");
    for (int i = 0; i < 1000; i++) {
      succeed("192.0.2.1", "honest");
    }
    assertRefused("192.0.2.1", "new");
  }

  @Test
  void aForeignClientCannotShutOutAKeyThatItGuessesAt() throws Exception {
    succeed("192.0.2.1", "honest");
    for (int i = 0; i < 5 * LIMIT; i++) {
      fail("192.0.2.1", "honest");
    }
    succeed("192.0.2.1", "honest");
    exhaust("192.0.2.1");
  }

  @Test
  void aSuccessLongAgoDoesNotCount() throws Exception {
    succeed("192.0.2.1", "honest");
    nanos.addAndGet(Duration.ofMinutes(61).toNanos());
    exhaust("192.0.2.1");
    assertRefused("192.0.2.1", "honest");
  }

  @Test
  void successesInBetweenDoNotBringBackAttempts() throws Exception {
    for (int i = 0; i < LIMIT; i++) {
      fail("192.0.2.1", "guess" + i);
      succeed("192.0.2.1", "own");
    }
    assertRefused("192.0.2.1", "guess");
  }

  private interface End {
    void of(FailedAttempts.Attempt attempt);
  }

  /** How many of 256 attempts with different keys begin, if all of them begin before one ends. */
  private int begunAtOnce(String address, End end) throws Exception {
    Client client = client(address);
    CountDownLatch begun = new CountDownLatch(256);
    AtomicInteger count = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      String key = "key" + i;
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      FailedAttempts.Attempt attempt = attempts.begin(client, key);
                      count.incrementAndGet();
                      begun.countDown();
                      begun.await();
                      end.of(attempt);
                    } catch (S3Exception | InterruptedException refused) {
                      begun.countDown();
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return count.get();
  }

  @Test
  void honestClientsMayAllComeAtOnce() throws Exception {
    assertEquals(256, begunAtOnce("192.0.2.1", FailedAttempts.Attempt::succeeded));
    exhaust("192.0.2.1");
    assertEquals(256, begunAtOnce("192.0.2.1", FailedAttempts.Attempt::succeeded), "proven");
  }

  @Test
  void requestsAtOnceDoNotGetMoreAttemptsInTheLongRun() throws Exception {
    assertEquals(256, begunAtOnce("192.0.2.1", FailedAttempts.Attempt::failed));
    assertRefused("192.0.2.1", "guess");
    Duration paid = Duration.ofSeconds(60 / LIMIT).multipliedBy(256 - LIMIT);
    nanos.addAndGet(paid.toNanos());
    assertRefused("192.0.2.1", "guess");
    nanos.addAndGet(Duration.ofSeconds(60 / LIMIT).toNanos());
    fail("192.0.2.1", "guess");
    assertRefused("192.0.2.1", "guess");
  }

  @ParameterizedTest
  @EnumSource(
      value = S3Error.class,
      names = {"INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_TOKEN"},
      mode = EnumSource.Mode.EXCLUDE)
  void otherErrorsAreNoFailedAttempts(S3Error error) throws Exception {
    for (int i = 0; i < 3 * LIMIT; i++) {
      attempts.begin(client("192.0.2.1"), "key").ended(new S3Exception(error));
    }
    exhaust("192.0.2.1");
    assertRefused("192.0.2.1", "key");
  }

  @Test
  void whatIsRememberedIsBounded() throws Exception {
    for (int i = 0; i < 40_000; i++) {
      succeed("10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255), "key");
      nanos.incrementAndGet();
      succeed("192.0.2.1", "key" + i);
    }
    assertTrue(attempts.networkCount() <= 16_384, () -> attempts.networkCount() + " networks");
    exhaust("192.0.2.1");
    assertRefused("192.0.2.1", "key0");
    succeed("192.0.2.1", "key39999");
  }

  @Test
  void ofManyKeysThoseThatHaveSucceededLatelyAreProven() throws Exception {
    succeed("192.0.2.1", "old");
    nanos.addAndGet(Duration.ofMinutes(61).toNanos());
    for (int i = 0; i < 4096 + 1; i++) {
      nanos.incrementAndGet();
      succeed("192.0.2.1", "key" + i);
    }
    exhaust("192.0.2.1");
    for (int i = 256; i < 4096 + 1; i++) {
      succeed("192.0.2.1", "key" + i);
    }
    assertRefused("192.0.2.1", "key0");
    assertRefused("192.0.2.1", "old");
  }

  @Test
  void withoutLimitNothingIsRefused() {
    FailedAttempts unlimited = new FailedAttempts(0, nanos::get);
    for (int i = 0; i < 1000; i++) {
      assertDoesNotThrow(
          () ->
              unlimited
                  .begin(client("192.0.2.1"), "guess")
                  .ended(new S3Exception(S3Error.INVALID_ACCESS_KEY_ID)));
    }
  }
}
