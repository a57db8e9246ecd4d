package dev.ashlar.gateway.accesslog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.BucketLogging;
import dev.ashlar.gateway.access.BucketLogging.KeyFormat;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UnavailableException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AccessLogTest {
  private static final int SMALL = 20_000;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Objects objects = new Objects();

  /** Keeps what is delivered, or fails. */
  private static final class Objects implements AccessLog.Delivery {
    private final List<String> texts = new ArrayList<>();
    private final CountDownLatch first = new CountDownLatch(1);
    private @Nullable Exception failure;

    @Override
    public synchronized void deliver(LogStream stream, byte[] lines)
        throws S3Exception, UnavailableException {
      switch (failure) {
        case null -> {}
        case S3Exception refused -> throw refused;
        case UnavailableException away -> throw away;
        case RuntimeException fault -> throw fault;
        default -> throw new AssertionError(failure);
      }
      texts.add(stream.bucket() + ":" + new String(lines, StandardCharsets.UTF_8));
      first.countDown();
    }

    synchronized List<String> texts() {
      return List.copyOf(texts);
    }
  }

  private static LogStream stream(String bucket) {
    return new LogStream(
        bucket, "id", new BucketLogging("target", "", KeyFormat.SIMPLE, Acl.EMPTY), null);
  }

  private static void add(AccessLog log, String bucket, String line) {
    log.add(stream(bucket), line.getBytes(StandardCharsets.UTF_8), 1);
  }

  private double count(String name) {
    return meters.get("ashlar.access.log." + name).counter().count();
  }

  @Test
  void linesOfABucketAreOneObject() throws Exception {
    AccessLog log = new AccessLog(objects, meters);
    add(log, "a", "1\n");
    add(log, "b", "2\n");
    add(log, "a", "3\n");
    assertTrue(log.deliver());
    assertEquals(List.of("a:1\n3\n", "b:2\n"), objects.texts());
    assertTrue(log.deliver());
    assertEquals(2, objects.texts().size());
    assertEquals(3, count("delivered"));
    assertEquals(0, count("dropped"));
  }

  @Test
  void linesWaitInBoundedMemory() throws Exception {
    AccessLog log = new AccessLog(objects, meters, SMALL);
    String line = "x".repeat(999) + "\n";
    for (int i = 0; i < 100; i++) {
      add(log, "a", line);
    }
    assertTrue(log.deliver());
    int kept = objects.texts().getFirst().length() / 1000;
    assertTrue(kept > 3 && kept < 10, () -> "" + kept);
    assertEquals(100 - kept, count("dropped"));
    for (int i = 0; i < 100; i++) {
      add(log, "bucket-" + i, "x\n");
    }
    assertTrue(log.deliver());
    assertTrue(objects.texts().size() < 10, () -> "" + objects.texts().size());
    objects.texts.clear();
    add(log, "a", line);
    assertTrue(log.deliver());
    assertEquals(1, objects.texts().size());
  }

  @Test
  void aBucketWhoseLinesCannotBeDeliveredLeavesRoomForOthers() throws Exception {
    AccessLog log = new AccessLog(objects, meters, SMALL);
    String line = "x".repeat(99) + "\n";
    for (int i = 0; i < 1000; i++) {
      add(log, "a", line);
    }
    double ofOne = count("dropped");
    assertTrue(ofOne > 0);
    add(log, "b", line);
    assertEquals(ofOne, count("dropped"));
    assertTrue(log.deliver());
    memoryIsFree(log);
  }

  @Test
  void whatCannotBeDeliveredYetIsDeliveredLaterInItsOrder() throws Exception {
    AccessLog log = new AccessLog(objects, meters, SMALL);
    for (Exception failure :
        List.of(MetadataUnavailableException.refused("away"), new S3Exception(S3Error.SLOW_DOWN))) {
      objects.failure = failure;
      add(log, "a", "1\n");
      assertFalse(log.deliver());
      add(log, "a", "2\n");
      assertFalse(log.deliver());
      objects.failure = null;
      add(log, "a", "3\n");
      assertTrue(log.deliver());
      assertEquals("a:1\n2\n3\n", objects.texts().getLast());
    }
    assertEquals(6, count("delivered"));
    assertEquals(0, count("dropped"));
    memoryIsFree(log);
  }

  /** A bucket can have half of it again, as if nothing else was there. */
  private void memoryIsFree(AccessLog log) throws Exception {
    double dropped = count("dropped");
    add(log, "a", "x".repeat(SMALL / 2 - 2048));
    assertEquals(dropped, count("dropped"));
    assertTrue(log.deliver());
  }

  @Test
  void whatIsRefusedIsDroppedAndCounted() throws Exception {
    AccessLog log = new AccessLog(objects, meters, SMALL);
    for (Exception failure :
        List.of(
            new S3Exception(S3Error.INVALID_TARGET_BUCKET_FOR_LOGGING),
            new IllegalStateException("a fault"))) {
      objects.failure = failure;
      add(log, "a", "1\n");
      add(log, "b", "2\n");
      assertTrue(log.deliver());
      objects.failure = null;
      assertTrue(log.deliver());
    }
    assertEquals(List.of(), objects.texts());
    assertEquals(4, count("dropped"));
    memoryIsFree(log);
  }

  @Test
  void enoughForAnObjectIsDeliveredAtOnce() throws Exception {
    try (AccessLog log = new AccessLog(objects, meters).start(Duration.ofDays(1))) {
      add(log, "a", "x".repeat(AccessLog.OBJECT_BYTES));
      assertTrue(objects.first.await(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void whatWaitsIsDeliveredAtTheEnd() throws Exception {
    AccessLog log = new AccessLog(objects, meters).start(Duration.ofDays(1));
    add(log, "a", "1\n");
    log.close();
    assertEquals(List.of("a:1\n"), objects.texts());
  }
}
