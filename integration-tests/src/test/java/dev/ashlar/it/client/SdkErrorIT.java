package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** Statuses and codes of refused requests, as the AWS SDK reads them. */
@ExtendWith(SharedServer.class)
class SdkErrorIT {
  private final ServerProcess server;
  private final S3Client s3;
  private final String bucket;

  SdkErrorIT(ServerProcess server) {
    this.server = server;
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "errors");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void bucketLifecycle() {
    String name = Buckets.name("lifecycle");
    assertFails(404, () -> s3.headBucket(b -> b.bucket(name)));
    assertFails(404, "NoSuchBucket", () -> s3.deleteBucket(b -> b.bucket(name)));
    assertFails(404, "NoSuchBucket", () -> s3.getBucketLocation(b -> b.bucket(name)));
    s3.createBucket(b -> b.bucket(name));
    s3.headBucket(b -> b.bucket(name));
    assertEquals("", s3.getBucketLocation(b -> b.bucket(name)).locationConstraintAsString());
    s3.putObject(b -> b.bucket(name).key("k"), RequestBody.empty());
    s3.createBucket(b -> b.bucket(name)); // in us-east-1 that is no error and changes nothing
    assertFails(409, "BucketNotEmpty", () -> s3.deleteBucket(b -> b.bucket(name)));
    s3.deleteObject(b -> b.bucket(name).key("k"));
    s3.deleteBucket(b -> b.bucket(name));
    assertFails(404, () -> s3.headBucket(b -> b.bucket(name)));
  }

  @Test
  void absentThings() {
    assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key("none")));
    assertFails(404, () -> s3.headObject(b -> b.bucket(bucket).key("none")));
    assertFails(404, "NoSuchBucket", () -> s3.getObject(b -> b.bucket("none-such").key("k")));
    assertFails(
        404,
        "NoSuchBucket",
        () -> s3.putObject(b -> b.bucket("none-such").key("k"), RequestBody.fromString("x")));
    assertFails(
        404,
        "NoSuchUpload",
        () ->
            s3.uploadPart(
                b -> b.bucket(bucket).key("k").uploadId("none").partNumber(1),
                RequestBody.fromString("x")));
  }

  @Test
  void wrongDigestsLeaveNothing() {
    assertFails(
        400,
        "BadDigest",
        () ->
            s3.putObject(
                b -> b.bucket(bucket).key("md5").contentMD5("1B2M2Y8AsgTpgAmY7PhCfg=="),
                RequestBody.fromString("not empty")));
    assertFails(
        400,
        "InvalidDigest",
        () ->
            s3.putObject(
                b -> b.bucket(bucket).key("md5").contentMD5("nonsense"),
                RequestBody.fromString("x")));
    assertFails(
        400,
        "BadDigest",
        () ->
            s3.putObject(
                b -> b.bucket(bucket).key("md5").checksumCRC32("AAAAAA=="),
                RequestBody.fromString("not empty")));
    assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key("md5")));
  }

  @Test
  void metadataBeyondTwoKibibytesIsRefused() {
    assertFails(
        400,
        "MetadataTooLarge",
        () ->
            s3.putObject(
                b -> b.bucket(bucket).key("big").metadata(Map.of("k", "v".repeat(2100))),
                RequestBody.empty()));
  }

  @Test
  void wrongCredentials() {
    try (S3Client stranger = withCredentials("nobody", "secret")) {
      assertFails(403, "InvalidAccessKeyId", () -> stranger.listBuckets());
    }
    try (S3Client forger = withCredentials(ServerProcess.ACCESS_KEY, "wrong")) {
      assertFails(403, "SignatureDoesNotMatch", () -> forger.listBuckets());
      assertFails(
          403,
          "SignatureDoesNotMatch",
          () -> forger.putObject(b -> b.bucket(bucket).key("x"), RequestBody.fromString("x")));
    }
    try (S3Client anonymous = anonymous()) {
      assertFails(403, "AccessDenied", () -> anonymous.getObject(b -> b.bucket(bucket).key("x")));
    }
  }

  private S3Client withCredentials(String accessKey, String secretKey) {
    return S3Client.builder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(() -> AwsBasicCredentials.create(accessKey, secretKey))
        .forcePathStyle(true)
        .build();
  }

  private S3Client anonymous() {
    return S3Client.builder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(AnonymousCredentialsProvider.create())
        .forcePathStyle(true)
        .build();
  }

  @Test
  void whatIsNotBuiltSaysSo() {
    assertFails(
        501,
        "NotImplemented",
        () ->
            s3.putBucketAccelerateConfiguration(
                b -> b.bucket(bucket).accelerateConfiguration(a -> a.status("Enabled"))));
  }

  @Test
  void errorsNameTheirRequest() {
    var failure =
        assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key("none")));
    assertNotNull(failure.requestId());
    assertNotNull(failure.awsErrorDetails().errorMessage());
  }
}
