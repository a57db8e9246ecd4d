package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.Arrays;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Ranges at every strip and stripe boundary, one byte before and one behind, of an object of more
 * than three stripes.
 */
@ExtendWith(SharedServer.class)
class SdkRangeIT {
  private static final int UNIT = 16 << 10;
  private static final int LENGTH = 3 * 4 * UNIT + UNIT + 1234;

  private final S3Client s3;
  private final String bucket;
  private final byte[] bytes = new Content(Seeds.seed("SdkRangeIT"), LENGTH).bytes();

  SdkRangeIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "ranges");
    s3.putObject(b -> b.bucket(bucket).key("o"), RequestBody.fromBytes(bytes));
    s3.putObject(b -> b.bucket(bucket).key("empty"), RequestBody.empty());
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void everyPairOfBoundaries() {
    TreeSet<Integer> edges = new TreeSet<>();
    for (int boundary = 0; boundary <= LENGTH; boundary += UNIT) {
      for (int edge : new int[] {boundary - 1, boundary, boundary + 1}) {
        if (edge >= 0 && edge < LENGTH) {
          edges.add(edge);
        }
      }
    }
    edges.add(LENGTH - 1);
    for (int first : edges) {
      for (int last : edges.tailSet(first)) {
        assertRange(first, last);
      }
    }
  }

  @Test
  void blockBoundaries() {
    for (int boundary = 4096; boundary < 2 * UNIT; boundary += 4096) {
      for (int first = boundary - 1; first <= boundary + 1; first++) {
        assertRange(first, first);
        assertRange(first, first + 4095);
        assertRange(first, first + 4096);
      }
    }
  }

  @Test
  void openAndSuffixRanges() {
    assertRange("bytes=" + (LENGTH - 1) + "-", LENGTH - 1, LENGTH - 1);
    assertRange("bytes=0-", 0, LENGTH - 1);
    assertRange("bytes=100-99999999999", 100, LENGTH - 1);
    assertRange("bytes=-1", LENGTH - 1, LENGTH - 1);
    assertRange("bytes=-" + UNIT, LENGTH - UNIT, LENGTH - 1);
    assertRange("bytes=-" + (LENGTH + 5L), 0, LENGTH - 1);
  }

  @Test
  void unsatisfiableRanges() {
    assertFails(416, "InvalidRange", () -> get("o", "bytes=" + LENGTH + "-"));
    assertFails(
        416, "InvalidRange", () -> get("o", "bytes=" + (LENGTH + 10) + "-" + (LENGTH + 20)));
    assertFails(416, "InvalidRange", () -> get("o", "bytes=-0"));
    assertFails(416, "InvalidRange", () -> get("empty", "bytes=0-0"));
  }

  /** As AWS does: what is no valid byte range is as if it were not there. */
  @Test
  void malformedRangesAreIgnored() {
    for (String range : new String[] {"bytes=5-2", "bytes=a-b", "lines=0-1", "bytes=", "0-5"}) {
      ResponseBytes<GetObjectResponse> whole = get("o", range);
      assertEquals(LENGTH, whole.response().contentLength(), range);
    }
  }

  @Test
  void headAnswersRangesToo() {
    var head = s3.headObject(b -> b.bucket(bucket).key("o").range("bytes=10-19"));
    assertEquals(10, head.contentLength());
  }

  private void assertRange(int first, int last) {
    if (last < LENGTH) {
      assertRange("bytes=" + first + "-" + last, first, last);
    }
  }

  private void assertRange(String header, int first, int last) {
    ResponseBytes<GetObjectResponse> got = get("o", header);
    assertArrayEquals(Arrays.copyOfRange(bytes, first, last + 1), got.asByteArrayUnsafe(), header);
    assertEquals("bytes " + first + "-" + last + "/" + LENGTH, got.response().contentRange());
    assertEquals(206, got.response().sdkHttpResponse().statusCode());
  }

  private ResponseBytes<GetObjectResponse> get(String key, String range) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).range(range));
  }
}
