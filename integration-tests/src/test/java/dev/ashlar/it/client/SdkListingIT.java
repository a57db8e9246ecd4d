package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Listings of 10,000 keys: ten folders of a hundred folders of ten objects. */
@ExtendWith(SharedServer.class)
class SdkListingIT {
  private static final int KEYS = 10_000;

  private final S3Client s3;
  private final String bucket;
  private final List<String> keys =
      IntStream.range(0, KEYS).mapToObj(SdkListingIT::key).sorted().toList();

  SdkListingIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "listing");
  }

  private static String key(int n) {
    return "f%d/g%02d/o%d".formatted(n / 1000, n / 10 % 100, n % 10);
  }

  @BeforeAll
  void fill() throws Exception {
    try (var workers = Executors.newFixedThreadPool(16)) {
      List<Future<?>> puts = new ArrayList<>();
      for (String key : keys) {
        RequestBody body = RequestBody.fromString(key);
        puts.add(workers.submit(() -> s3.putObject(b -> b.bucket(bucket).key(key), body)));
      }
      for (Future<?> put : puts) {
        put.get();
      }
    }
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void allInOrder() {
    List<String> listed = new ArrayList<>();
    for (var page : s3.listObjectsV2Paginator(b -> b.bucket(bucket))) {
      assertTrue(page.keyCount() <= 1000);
      page.contents().forEach(object -> listed.add(object.key()));
    }
    assertEquals(keys, listed);
  }

  @Test
  void firstVersionPagesByMarker() {
    List<String> listed = new ArrayList<>();
    String marker = "";
    boolean more = true;
    while (more) {
      String after = marker;
      var page = s3.listObjects(b -> b.bucket(bucket).prefix("f3/").marker(after).maxKeys(333));
      page.contents().forEach(object -> listed.add(object.key()));
      more = page.isTruncated();
      marker = listed.getLast();
    }
    assertEquals(keys.stream().filter(key -> key.startsWith("f3/")).toList(), listed);
  }

  @Test
  void delimiterGroups() {
    ListObjectsV2Response top = s3.listObjectsV2(b -> b.bucket(bucket).delimiter("/"));
    assertEquals(10, top.keyCount());
    assertTrue(top.contents().isEmpty());
    assertEquals("f0/", top.commonPrefixes().getFirst().prefix());
    var folders = s3.listObjectsV2(b -> b.bucket(bucket).prefix("f7/").delimiter("/"));
    assertEquals(100, folders.commonPrefixes().size());
    assertFalse(folders.isTruncated());
    var leaf = s3.listObjectsV2(b -> b.bucket(bucket).prefix("f7/g05/").delimiter("/"));
    assertEquals(10, leaf.contents().size());
    var odd = s3.listObjectsV2(b -> b.bucket(bucket).prefix("f7").delimiter("/g0"));
    assertEquals("f7/g0", odd.commonPrefixes().getFirst().prefix());
    assertEquals(900, odd.contents().size());
  }

  @Test
  void delimiterGroupsPageByPage() {
    List<String> groups = new ArrayList<>();
    for (var page :
        s3.listObjectsV2Paginator(b -> b.bucket(bucket).prefix("f2/").delimiter("/").maxKeys(7))) {
      page.commonPrefixes().stream().map(CommonPrefix::prefix).forEach(groups::add);
      assertTrue(page.contents().isEmpty());
    }
    assertEquals(IntStream.range(0, 100).mapToObj("f2/g%02d/"::formatted).toList(), groups);
  }

  @Test
  void startAfterNeedsNoExistingKey() {
    var page = s3.listObjectsV2(b -> b.bucket(bucket).startAfter("f9/g99/o8").fetchOwner(true));
    assertEquals(List.of("f9/g99/o9"), page.contents().stream().map(S3Object::key).toList());
    S3Object last = page.contents().getFirst();
    assertNotNull(last.owner());
    assertEquals("f9/g99/o9".length(), last.size());
    assertNotNull(last.eTag());
    assertEquals("STANDARD", last.storageClassAsString());
    assertEquals(0, s3.listObjectsV2(b -> b.bucket(bucket).startAfter("zzz")).keyCount());
    assertEquals(0, s3.listObjectsV2(b -> b.bucket(bucket).maxKeys(0)).keyCount());
  }

  @Test
  void badArgumentsAreRefused() {
    assertFails(400, "InvalidArgument", () -> s3.listObjectsV2(b -> b.bucket(bucket).maxKeys(-1)));
    assertFails(
        400,
        "InvalidArgument",
        () -> s3.listObjectsV2(b -> b.bucket(bucket).continuationToken("no such token")));
    assertFails(404, "NoSuchBucket", () -> s3.listObjectsV2(b -> b.bucket("no-such-bucket")));
  }

  @Test
  void bucketsAreListedByName() {
    List<String> names = s3.listBuckets().buckets().stream().map(Bucket::name).toList();
    assertTrue(names.contains(bucket));
    assertEquals(names.stream().sorted().toList(), names);
  }
}
