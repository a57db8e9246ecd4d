package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Quotas of buckets and accounts are exact, however many clients write at once, and what is deleted
 * makes room. {@code -Dashlar.quota.rounds} says how long clients mix all kinds of writes.
 */
@ExtendWith(SharedServer.class)
class QuotaIT {
  private static final int CLIENTS = 8;
  private static final int OBJECT = 1_000;
  private static final int ROUNDS = Integer.getInteger("ashlar.quota.rounds", 25);
  private static final int FORBIDDEN = 403;

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("QuotaIT"));
  private final ServerProcess server;
  private final JsonNode account;
  private final S3Client s3;
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);

  QuotaIT(ServerProcess server) throws Exception {
    this.server = server;
    account = administered("account-create?name=quota-" + random.nextLong(1L << 40));
    s3 = Clients.sync(server, account.get("accessKey").asText(), account.get("secretKey").asText());
  }

  @AfterAll
  void close() {
    clients.shutdownNow();
    s3.close();
  }

  private JsonNode administered(String what) throws Exception {
    HttpResponse<String> answer = server.administer(what);
    assertEquals(200, answer.statusCode(), answer.body());
    return new ObjectMapper().readTree(answer.body());
  }

  private void limitBucket(String bucket, String limits) throws Exception {
    administered("bucket-quota?target=" + bucket + "&by=" + limits);
  }

  private JsonNode row(String page, String field, String value) throws Exception {
    JsonNode all = new ObjectMapper().readTree(server.adminPage(page));
    for (JsonNode row : all.isArray() ? all : all.elements().next()) {
      if (row.path(field).asText().equals(value)) {
        return row;
      }
    }
    throw new AssertionError("no " + value + " in " + all);
  }

  private long bytesOfBucket(String bucket) throws Exception {
    return row("buckets", "name", bucket).get("bytes").asLong();
  }

  private long objectsOfBucket(String bucket) throws Exception {
    return row("buckets", "name", bucket).get("objects").asLong();
  }

  private long bytesOfAccount() throws Exception {
    return row("account-usage", "owner", account.get("canonicalId").asText()).get("bytes").asLong();
  }

  /** Returns whether the quota let it through. */
  private static boolean fits(Runnable request) {
    try {
      request.run();
      return true;
    } catch (S3Exception failure) {
      assertEquals(FORBIDDEN, failure.statusCode(), failure::toString);
      assertEquals("QuotaExceeded", failure.awsErrorDetails().errorCode());
      return false;
    }
  }

  private Runnable put(String bucket, String key, int bytes) {
    return () ->
        s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(new byte[bytes]));
  }

  /** All at once; returns how many fitted. */
  private int inParallel(List<Runnable> requests) throws Exception {
    List<Future<Boolean>> answers = new ArrayList<>();
    requests.forEach(request -> answers.add(clients.submit(() -> fits(request))));
    int fitted = 0;
    for (Future<Boolean> answer : answers) {
      fitted += answer.get() ? 1 : 0;
    }
    return fitted;
  }

  private List<Runnable> puts(String bucket, int count) {
    return IntStream.range(0, count).mapToObj(i -> put(bucket, "k" + i, OBJECT)).toList();
  }

  @Test
  void parallelPutsFillABucketExactly() throws Exception {
    String bucket = Buckets.create(s3, "quota-bytes");
    limitBucket(bucket, 40 * OBJECT + ",-");
    assertEquals(40, inParallel(puts(bucket, 80)));
    assertEquals(40 * OBJECT, bytesOfBucket(bucket));
    String objects = Buckets.create(s3, "quota-objects");
    limitBucket(objects, "-,17");
    assertEquals(17, inParallel(puts(objects, 60)));
    assertEquals(17, objectsOfBucket(objects));
    // Deleting makes room for as much again.
    s3.listObjectsV2(b -> b.bucket(objects)).contents().stream()
        .limit(5)
        .forEach(object -> s3.deleteObject(b -> b.bucket(objects).key(object.key())));
    assertEquals(
        5, inParallel(IntStream.range(0, 20).mapToObj(i -> put(objects, "n" + i, 1)).toList()));
  }

  @Test
  void anAccountsBucketsShareItsQuota() throws Exception {
    JsonNode own = administered("account-create?name=quota-own-" + random.nextLong(1L << 40));
    try (S3Client other =
        Clients.sync(server, own.get("accessKey").asText(), own.get("secretKey").asText())) {
      List<String> buckets = List.of(Buckets.create(other, "one"), Buckets.create(other, "two"));
      administered("account-quota?target=" + own.get("account").asText() + "&by=30000,-");
      List<Runnable> requests = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        String bucket = buckets.get(i % 2);
        String key = "k" + i;
        requests.add(
            () ->
                other.putObject(
                    b -> b.bucket(bucket).key(key), RequestBody.fromBytes(new byte[OBJECT])));
      }
      assertEquals(30, inParallel(requests));
      long sum = bytesOfBucket(buckets.get(0)) + bytesOfBucket(buckets.get(1));
      assertEquals(30_000, sum);
      // Another account has its own.
      String elsewhere = Buckets.create(s3, "elsewhere");
      assertTrue(fits(put(elsewhere, "k", 50_000)));
    }
  }

  @Test
  void uploadsCountOnce() throws Exception {
    String bucket = Buckets.create(s3, "quota-uploads");
    limitBucket(bucket, "20000,-");
    List<String> uploads = new ArrayList<>();
    List<Runnable> parts = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      String key = "u" + i;
      String id = s3.createMultipartUpload(b -> b.bucket(bucket).key(key)).uploadId();
      uploads.add(id);
      parts.add(
          () ->
              s3.uploadPart(
                  b -> b.bucket(bucket).key(key).uploadId(id).partNumber(1),
                  RequestBody.fromBytes(new byte[OBJECT])));
    }
    assertEquals(20, inParallel(parts));
    assertEquals(20_000, bytesOfBucket(bucket));
    // Completed all at once, they are what they were.
    List<Runnable> completions = new ArrayList<>();
    for (int i = 0; i < uploads.size(); i++) {
      String key = "u" + i;
      String id = uploads.get(i);
      var there = s3.listParts(b -> b.bucket(bucket).key(key).uploadId(id)).parts();
      if (there.isEmpty()) {
        s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(id));
        continue;
      }
      CompletedPart part =
          CompletedPart.builder().partNumber(1).eTag(there.getFirst().eTag()).build();
      completions.add(
          () ->
              s3.completeMultipartUpload(
                  b -> b.bucket(bucket).key(key).uploadId(id).multipartUpload(m -> m.parts(part))));
    }
    assertEquals(20, inParallel(completions));
    assertEquals(20_000, bytesOfBucket(bucket));
    assertEquals(20, objectsOfBucket(bucket));
  }

  /**
   * Puts, copies, appends, uploads and deletes at once; versions are kept in one of the buckets.
   */
  @Test
  void everyKindOfWriteAtOnce() throws Exception {
    String plain = Buckets.create(s3, "quota-mixed");
    String versioned = Buckets.create(s3, "quota-versions");
    s3.putBucketVersioning(
        b ->
            b.bucket(versioned)
                .versioningConfiguration(v -> v.status(BucketVersioningStatus.ENABLED)));
    limitBucket(plain, "60000,40");
    limitBucket(versioned, "60000,40");
    AtomicBoolean isDone = new AtomicBoolean();
    ExecutorService watcher = Executors.newSingleThreadExecutor();
    try {
      Future<Long> greatest = watcher.submit(() -> watch(List.of(plain, versioned), isDone));
      List<Future<Integer>> work = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        SplittableRandom own = random.split();
        String bucket = i % 2 == 0 ? plain : versioned;
        work.add(clients.submit(() -> mix(bucket, bucket.equals(plain), own)));
      }
      int refused = 0;
      for (Future<Integer> each : work) {
        refused += each.get();
      }
      isDone.set(true);
      assertTrue(greatest.get() <= 60_000, () -> "more than the quota was counted");
      assertTrue(refused > 0, "the quota was never reached");
    } finally {
      isDone.set(true);
      watcher.shutdown();
    }
    long sum = 0;
    for (String bucket : List.of(plain, versioned)) {
      sum += requireCounted(bucket);
    }
    assertTrue(bytesOfAccount() >= sum);
    empty(plain);
    empty(versioned);
    // The room is there again, to the last byte.
    assertTrue(fits(put(plain, "all", 60_000)));
    assertFalse(fits(put(plain, "more", 1)));
    assertTrue(fits(put(versioned, "all", 60_000)));
  }

  private long watch(List<String> buckets, AtomicBoolean isDone) throws Exception {
    long greatest = 0;
    while (!isDone.get()) {
      for (String bucket : buckets) {
        greatest = Math.max(greatest, bytesOfBucket(bucket));
      }
    }
    return greatest;
  }

  /** Returns how many requests were refused. */
  private int mix(String bucket, boolean appends, SplittableRandom own) {
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
      String key = "k" + own.nextInt(12);
      int bytes = own.nextInt(6_000);
      Runnable request =
          switch (own.nextInt(appends ? 6 : 5)) {
            case 0, 1 -> put(bucket, key, bytes);
            case 2 -> () -> s3.deleteObject(b -> b.bucket(bucket).key(key));
            case 3 -> () -> upload(bucket, key, bytes);
            case 4 -> () -> copy(bucket, "k" + own.nextInt(12), key);
            default -> () -> append(bucket, key, bytes);
          };
      refused += fits(request) ? 0 : 1;
      if (!appends && own.nextInt(3) == 0) {
        deleteOldest(bucket, key);
      }
    }
    return refused;
  }

  private void copy(String bucket, String source, String key) {
    try {
      s3.copyObject(
          b ->
              b.sourceBucket(bucket)
                  .sourceKey(source)
                  .destinationBucket(bucket)
                  .destinationKey(key)
                  .metadata(Map.of("m", "v"))
                  .metadataDirective("REPLACE"));
    } catch (S3Exception failure) {
      ignore(failure, 404, 409);
    }
  }

  private void append(String bucket, String key, int bytes) {
    try {
      long size = s3.headObject(b -> b.bucket(bucket).key(key)).contentLength();
      s3.putObject(
          b -> b.bucket(bucket).key(key).writeOffsetBytes(size),
          RequestBody.fromBytes(new byte[bytes]));
    } catch (S3Exception failure) {
      ignore(failure, 404, 409, 400); // others have changed it
    }
  }

  private void upload(String bucket, String key, int bytes) {
    String id = s3.createMultipartUpload(b -> b.bucket(bucket).key(key)).uploadId();
    try {
      String eTag =
          s3.uploadPart(
                  b -> b.bucket(bucket).key(key).uploadId(id).partNumber(1),
                  RequestBody.fromBytes(new byte[bytes]))
              .eTag();
      CompletedPart part = CompletedPart.builder().partNumber(1).eTag(eTag).build();
      s3.completeMultipartUpload(
          b -> b.bucket(bucket).key(key).uploadId(id).multipartUpload(m -> m.parts(part)));
    } catch (S3Exception failure) {
      s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(id));
      throw failure;
    }
  }

  private void deleteOldest(String bucket, String key) {
    var versions = s3.listObjectVersions(b -> b.bucket(bucket).prefix(key)).versions();
    if (!versions.isEmpty()) {
      var oldest = versions.getLast();
      s3.deleteObject(b -> b.bucket(bucket).key(oldest.key()).versionId(oldest.versionId()));
    }
  }

  private static void ignore(S3Exception failure, int... statuses) {
    if (IntStream.of(statuses).noneMatch(status -> status == failure.statusCode())) {
      throw failure;
    }
  }

  /** What is counted is what is listed; returns the bytes. */
  private long requireCounted(String bucket) throws Exception {
    var all = s3.listObjectVersions(b -> b.bucket(bucket));
    long bytes = all.versions().stream().mapToLong(version -> version.size()).sum();
    assertEquals(bytes, bytesOfBucket(bucket), bucket);
    assertEquals(
        all.versions().size() + all.deleteMarkers().size(), objectsOfBucket(bucket), bucket);
    return bytes;
  }

  private void empty(String bucket) throws Exception {
    var all = s3.listObjectVersions(b -> b.bucket(bucket));
    all.versions()
        .forEach(
            it -> s3.deleteObject(b -> b.bucket(bucket).key(it.key()).versionId(it.versionId())));
    all.deleteMarkers()
        .forEach(
            it -> s3.deleteObject(b -> b.bucket(bucket).key(it.key()).versionId(it.versionId())));
    assertEquals(0, bytesOfBucket(bucket));
    assertEquals(0, objectsOfBucket(bucket));
  }
}
