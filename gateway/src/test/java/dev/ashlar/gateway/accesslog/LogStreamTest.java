package dev.ashlar.gateway.accesslog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.ashlar.gateway.access.BucketLogging;
import dev.ashlar.gateway.access.BucketLogging.KeyFormat;
import dev.ashlar.gateway.access.acl.Acl;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogStreamTest {
  private static final Instant EVENT = Instant.parse("2026-11-01T23:59:59Z");
  private static final Instant DELIVERY = Instant.parse("2026-11-02T00:04:05Z");

  private static LogStream stream(KeyFormat format, Instant time) {
    return LogStream.of("src", "id", new BucketLogging("target", "p/", format, Acl.EMPTY), time);
  }

  @ParameterizedTest
  @CsvSource({
    "UNSPECIFIED, p/2026-11-02-00-04-05-00000000000000FF",
    "SIMPLE, p/2026-11-02-00-04-05-00000000000000FF",
    "EVENT_TIME, p/111122223333/eu-1/src/2026/11/01/2026-11-01-00-00-00-00000000000000FF",
    "DELIVERY_TIME, p/111122223333/eu-1/src/2026/11/02/2026-11-02-00-04-05-00000000000000FF"
  })
  void keysOfObjects(KeyFormat format, String key) {
    assertEquals(key, stream(format, EVENT).key("111122223333", "eu-1", DELIVERY, 255));
  }

  @Test
  void onlyEventTimesTellDaysApart() {
    for (KeyFormat format : KeyFormat.values()) {
      if (format == KeyFormat.EVENT_TIME) {
        assertNotEquals(stream(format, EVENT), stream(format, DELIVERY));
      } else {
        assertEquals(stream(format, EVENT), stream(format, DELIVERY));
      }
    }
  }
}
