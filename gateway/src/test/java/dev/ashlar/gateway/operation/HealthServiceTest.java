package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.health.HealthService;
import dev.ashlar.gateway.health.HealthService.StoreState;
import dev.ashlar.gateway.s3.VirtualHosts;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HealthServiceTest {
  private static final int OF_S3 = 299;

  private boolean servesReads = true;
  private boolean servesAllWrites = true;

  private final HealthService service =
      new HealthService(
          exchange -> new HttpAnswer(OF_S3, new DefaultHttpHeaders(), new HttpAnswer.Empty()),
          new VirtualHosts(List.of("s3.test")),
          new StoreState() {
            @Override
            public boolean servesReads() {
              return servesReads;
            }

            @Override
            public boolean servesAllWrites() {
              return servesAllWrites;
            }
          });

  private int status(TestRequest request) throws Exception {
    return service.handle(request).status();
  }

  @ParameterizedTest
  @CsvSource({
    "live, true, true, 200",
    "live, false, false, 200",
    "ready, true, false, 200",
    "ready, false, false, 503",
    "cluster, true, true, 200",
    "cluster, true, false, 503",
    "cluster/read, true, false, 200",
    "cluster/read, false, false, 503"
  })
  void tellsWhatIsServed(String path, boolean reads, boolean writes, int expected)
      throws Exception {
    servesReads = reads;
    servesAllWrites = writes;
    assertEquals(expected, status(new TestRequest("GET", "/minio/health/" + path)));
    assertEquals(expected, status(new TestRequest("HEAD", "/minio/health/" + path)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/minio/health/cluster?maintenance=true",
        "/minio/health/live?X-Amz-Signature=1",
        "/minio/health/live/",
        "/minio/health/other",
        "/minio/health/%6Cive",
        "/minio/health/",
        "/minio/health",
        "/minio",
        "/bucket/minio/health/live"
      })
  void otherPathsAreLeftToS3(String path) throws Exception {
    assertEquals(OF_S3, status(new TestRequest("GET", path)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "POST", "DELETE", "OPTIONS"})
  void otherMethodsAreLeftToS3(String method) throws Exception {
    assertEquals(OF_S3, status(new TestRequest(method, "/minio/health/live")));
  }

  @Test
  void whatIsSignedOrForABucketIsLeftToS3() throws Exception {
    TestRequest signed = new TestRequest("GET", "/minio/health/live");
    assertEquals(OF_S3, status(signed.header("Authorization", "AWS4-HMAC-SHA256 ...")));
    TestRequest hosted = new TestRequest("GET", "/minio/health/live").without("Host");
    assertEquals(OF_S3, status(hosted.header("Host", "bucket.s3.test")));
  }
}
