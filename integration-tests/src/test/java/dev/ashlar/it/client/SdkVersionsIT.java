package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectAttributesResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ObjectAttributes;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.ObjectVersion;

/** Versions with the SDK, which compares checksums of what it reads. */
@ExtendWith(SharedServer.class)
class SdkVersionsIT {
  private static final int PART = 5 << 20;

  private final long seed = Seeds.seed("SdkVersionsIT");
  private final S3Client s3;
  private final String bucket;

  SdkVersionsIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.createVersioned(s3, "versions");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  private byte[] bytes(int number, int length) {
    return new Content(seed + number, length).bytes();
  }

  private String put(String key, byte[] body) {
    return s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(body)).versionId();
  }

  private byte[] get(String key, String version) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).versionId(version)).asByteArray();
  }

  @Test
  void versionsOfAnUploadAndOfObjects() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ids.add(put("k", bytes(i, 100_000 * (i + 1))));
    }
    String upload = s3.createMultipartUpload(b -> b.bucket(bucket).key("k")).uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (int number = 1; number <= 2; number++) {
      int part = number;
      String etag =
          s3.uploadPart(
                  b -> b.bucket(bucket).key("k").uploadId(upload).partNumber(part),
                  RequestBody.fromBytes(bytes(10 + part, PART)))
              .eTag();
      parts.add(CompletedPart.builder().partNumber(part).eTag(etag).build());
    }
    String completed =
        s3.completeMultipartUpload(
                b ->
                    b.bucket(bucket).key("k").uploadId(upload).multipartUpload(m -> m.parts(parts)))
            .versionId();
    String last = put("k", bytes(20, 1000));
    for (int i = 0; i < 4; i++) {
      assertArrayEquals(bytes(i, 100_000 * (i + 1)), get("k", ids.get(i)));
    }
    byte[] large = get("k", completed);
    assertEquals(2 * PART, large.length);
    assertArrayEquals(bytes(12, PART), Arrays.copyOfRange(large, PART, 2 * PART));
    GetObjectAttributesResponse attributes =
        s3.getObjectAttributes(
            b ->
                b.bucket(bucket)
                    .key("k")
                    .versionId(completed)
                    .objectAttributes(ObjectAttributes.OBJECT_SIZE));
    assertEquals(2L * PART, attributes.objectSize());
    assertEquals(completed, attributes.versionId());
    assertEquals(last, s3.headObject(b -> b.bucket(bucket).key("k")).versionId());
    List<String> expected = new ArrayList<>(List.of(last, completed));
    expected.addAll(ids.reversed());
    assertEquals(
        expected,
        s3
            .listObjectVersionsPaginator(b -> b.bucket(bucket).prefix("k").maxKeys(2))
            .versions()
            .stream()
            .map(ObjectVersion::versionId)
            .toList());
  }

  @Test
  void markersAndDeletions() {
    String first = put("m", bytes(1, 10));
    DeleteObjectResponse deleted = s3.deleteObject(b -> b.bucket(bucket).key("m"));
    assertTrue(deleted.deleteMarker());
    assertFails(404, "NoSuchKey", () -> s3.getObjectAsBytes(b -> b.bucket(bucket).key("m")));
    assertFails(
        405, () -> s3.headObject(b -> b.bucket(bucket).key("m").versionId(deleted.versionId())));
    assertFails(
        404,
        "NoSuchVersion",
        () -> s3.getObjectAsBytes(b -> b.bucket(bucket).key("other").versionId(first)));
    ListObjectVersionsResponse listed = s3.listObjectVersions(b -> b.bucket(bucket).prefix("m"));
    DeleteMarkerEntry marker = listed.deleteMarkers().getFirst();
    assertEquals(deleted.versionId(), marker.versionId());
    assertTrue(marker.isLatest());
    List<ObjectIdentifier> all =
        List.of(first, deleted.versionId()).stream()
            .map(id -> ObjectIdentifier.builder().key("m").versionId(id).build())
            .toList();
    var together = s3.deleteObjects(b -> b.bucket(bucket).delete(d -> d.objects(all)));
    assertEquals(2, together.deleted().size());
    assertEquals(List.of(), together.errors());
    assertEquals(
        List.of(), s3.listObjectVersions(b -> b.bucket(bucket).prefix("m")).deleteMarkers());
  }

  @Test
  void olderVersionsAreRestoredByACopy() {
    String first = put("r", bytes(1, 70_000));
    put("r", bytes(2, 70_000));
    var copied =
        s3.copyObject(
            b ->
                b.sourceBucket(bucket)
                    .sourceKey("r")
                    .sourceVersionId(first)
                    .destinationBucket(bucket)
                    .destinationKey("r"));
    assertEquals(first, copied.copySourceVersionId());
    s3.deleteObject(b -> b.bucket(bucket).key("r").versionId(first));
    assertArrayEquals(bytes(1, 70_000), get("r", copied.versionId()));
    assertArrayEquals(
        bytes(1, 70_000), s3.getObjectAsBytes(b -> b.bucket(bucket).key("r")).asByteArray());
  }
}
