package dev.ashlar.it.imports;

import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Parallel;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.ExpirationStatus;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.ObjectLockLegalHoldStatus;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.Tag;

/** Buckets with all that an import keeps. What is in them follows from a seed. */
final class SourceData {
  static final String PLAIN = "plain";
  static final String VERSIONED = "versioned";
  static final String LOCKED = "locked";
  static final List<String> BUCKETS = List.of(PLAIN, VERSIONED, LOCKED);

  private static final int CLIENTS = 8;
  private static final int KEYS_PER_CLIENT = 20;
  private static final int MULTIPART_EVERY = 80;
  private static final int PART_BYTES = 5 << 20;
  private static final int SMALL_BYTES_MAX = 40_000;
  private static final List<String> PREFIXES = List.of("a/", "a-", "ü +&/", "z%41~/");

  private final S3Client s3;
  private final long seed;
  private final Instant until =
      Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.SECONDS);

  SourceData(Store store, long seed) {
    this.s3 = store.s3();
    this.seed = seed;
  }

  void fill() throws InterruptedException {
    s3.createBucket(r -> r.bucket(PLAIN));
    Tag tag = Tag.builder().key("team").value("stone").build();
    s3.putBucketTagging(r -> r.bucket(PLAIN).tagging(t -> t.tagSet(tag)));
    LifecycleRule rule =
        LifecycleRule.builder()
            .id("after years")
            .status(ExpirationStatus.ENABLED)
            .filter(f -> f.prefix("a/"))
            .expiration(e -> e.days(4000))
            .build();
    s3.putBucketLifecycleConfiguration(
        r -> r.bucket(PLAIN).lifecycleConfiguration(c -> c.rules(rule)));
    s3.createBucket(r -> r.bucket(VERSIONED));
    s3.putBucketVersioning(
        r ->
            r.bucket(VERSIONED)
                .versioningConfiguration(c -> c.status(BucketVersioningStatus.ENABLED)));
    s3.createBucket(r -> r.bucket(LOCKED).objectLockEnabledForBucket(true));
    Parallel.run(
        CLIENTS,
        client -> {
          for (int i = 0; i < KEYS_PER_CLIENT; i++) {
            fill(client * KEYS_PER_CLIENT + i);
          }
        });
  }

  private void fill(int number) {
    SplittableRandom random = new SplittableRandom(seed + number);
    String bucket = BUCKETS.get(number % BUCKETS.size());
    String key = PREFIXES.get(random.nextInt(PREFIXES.size())) + number;
    if (number % MULTIPART_EVERY < BUCKETS.size()) {
      putParts(bucket, key, random);
    } else {
      put(bucket, key, random);
    }
    for (int more = bucket.equals(PLAIN) ? 0 : random.nextInt(4); more > 0; more--) {
      if (random.nextInt(4) == 0) {
        s3.deleteObject(r -> r.bucket(bucket).key(key));
      } else {
        put(bucket, key, random);
      }
    }
  }

  private void put(String bucket, String key, SplittableRandom random) {
    PutObjectRequest.Builder request =
        PutObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .contentType(random.nextBoolean() ? "text/plain" : "image/png")
            .metadata(Map.of("number", "" + random.nextInt(100)));
    if (random.nextInt(3) == 0) {
      request.tagging("stage=test&n=" + random.nextInt(9));
    }
    if (random.nextInt(5) == 0) {
      request.cacheControl("max-age=5").contentDisposition("attachment").contentLanguage("de");
    }
    if (random.nextInt(4) == 0) {
      request.checksumAlgorithm(ChecksumAlgorithm.SHA256);
    }
    if (bucket.equals(LOCKED) && random.nextInt(3) == 0) {
      request.objectLockMode(ObjectLockMode.GOVERNANCE).objectLockRetainUntilDate(until);
    }
    if (bucket.equals(LOCKED) && random.nextInt(8) == 0) {
      request.objectLockLegalHoldStatus(ObjectLockLegalHoldStatus.ON);
    }
    byte[] content = new Content(random.nextLong(), random.nextInt(SMALL_BYTES_MAX)).bytes();
    s3.putObject(request.build(), RequestBody.fromBytes(content));
  }

  private void putParts(String bucket, String key, SplittableRandom random) {
    String upload =
        s3.createMultipartUpload(
                r -> r.bucket(bucket).key(key).contentType("video/mp4").tagging("parts=2"))
            .uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (int bytes : List.of(PART_BYTES + random.nextInt(1000), random.nextInt(1, PART_BYTES))) {
      int number = parts.size() + 1;
      byte[] content = new Content(random.nextLong(), bytes).bytes();
      String etag =
          s3.uploadPart(
                  r -> r.bucket(bucket).key(key).uploadId(upload).partNumber(number),
                  RequestBody.fromBytes(content))
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
    }
    s3.completeMultipartUpload(
        r -> r.bucket(bucket).key(key).uploadId(upload).multipartUpload(m -> m.parts(parts)));
  }

  /**
   * Replaces, deletes and adds, as clients do that have not been switched yet.
   *
   * @param round each changes other things
   */
  void change(int round) {
    SplittableRandom random = new SplittableRandom(seed - 1 - round);
    for (String bucket : BUCKETS) {
      List<String> keys =
          s3.listObjectsV2(r -> r.bucket(bucket)).contents().stream().map(o -> o.key()).toList();
      for (int i = round % 7; i < keys.size(); i += 7) {
        String key = keys.get(i);
        if (i % 2 == 0) {
          put(bucket, key, random);
        } else {
          s3.deleteObject(r -> r.bucket(bucket).key(key));
        }
      }
      put(bucket, "new" + round, random);
    }
  }
}
