package dev.ashlar.it.harness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectVersion;

/**
 * Objects of all kinds that nobody changes: of all sizes, with parts, copies that share their
 * blobs, and versions of a bucket that keeps them.
 */
public final class KeptObjects {
  private static final int COPIES = 20;
  private static final int VERSIONS = 3;
  private static final int PART_BYTES = 5 << 20;
  private static final String UPLOADED = "uploaded";

  private final S3Client s3;
  private final String plain;
  private final String versioned;
  private final List<Kept> all = new ArrayList<>();

  /**
   * An object version, as it was when it was put.
   *
   * @param version null: the bucket keeps none
   */
  private record Kept(
      String bucket,
      String key,
      @Nullable String version,
      Content content,
      String etag,
      Instant time) {}

  private KeptObjects(S3Client s3) {
    this.s3 = s3;
    this.plain = Buckets.create(s3, "kept");
    this.versioned = Buckets.createVersioned(s3, "kept");
  }

  /**
   * Puts them.
   *
   * @param plain objects that are put in one piece, at least 20
   * @param versioned keys with several versions
   */
  public static KeptObjects put(S3Client s3, SplittableRandom random, int plain, int versioned) {
    KeptObjects kept = new KeptObjects(s3);
    for (int i = 0; i < plain; i++) {
      int length = i == 0 ? 0 : random.nextInt(1 << random.nextInt(4, 21));
      kept.put(kept.plain, "plain/" + i, new Content(random.nextLong(), length));
    }
    for (int i = 0; i < COPIES; i++) {
      kept.copy("plain/" + i, "copy/" + i);
    }
    kept.upload(new Content(random.nextLong(), 2 * PART_BYTES + 70_000));
    for (int i = 0; i < versioned; i++) {
      for (int j = 0; j < VERSIONS; j++) {
        int length = random.nextInt(100_000);
        kept.put(kept.versioned, "v" + i, new Content(random.nextLong(), length));
      }
    }
    for (int i = 0; i < versioned; i += 3) {
      String key = "v" + i;
      s3.deleteObject(b -> b.bucket(kept.versioned).key(key));
    }
    return kept;
  }

  public List<String> buckets() {
    return List.of(plain, versioned);
  }

  public int versions() {
    return all.size();
  }

  private void put(String bucket, String key, Content content) {
    String version =
        s3.putObject(
                b -> b.bucket(bucket).key(key).metadata(Map.of("n", "v".repeat(300))),
                RequestBody.fromBytes(content.bytes()))
            .versionId();
    remember(bucket, key, version, content);
  }

  private void copy(String from, String to) {
    s3.copyObject(
        b -> b.sourceBucket(plain).sourceKey(from).destinationBucket(plain).destinationKey(to));
    Kept source = all.stream().filter(each -> each.key.equals(from)).findFirst().orElseThrow();
    remember(plain, to, null, source.content);
  }

  private void upload(Content content) {
    byte[] bytes = content.bytes();
    String upload = s3.createMultipartUpload(b -> b.bucket(plain).key(UPLOADED)).uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (int from = 0; from < bytes.length; from += PART_BYTES) {
      int number = parts.size() + 1;
      byte[] part = Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + PART_BYTES));
      String etag =
          s3.uploadPart(
                  b -> b.bucket(plain).key(UPLOADED).uploadId(upload).partNumber(number),
                  RequestBody.fromBytes(part))
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
    }
    s3.completeMultipartUpload(
        b ->
            b.bucket(plain)
                .key(UPLOADED)
                .uploadId(upload)
                .multipartUpload(CompletedMultipartUpload.builder().parts(parts).build()));
    remember(plain, UPLOADED, null, content);
  }

  private void remember(String bucket, String key, @Nullable String version, Content content) {
    HeadObjectResponse head = s3.headObject(b -> b.bucket(bucket).key(key).versionId(version));
    all.add(new Kept(bucket, key, version, content, head.eTag(), head.lastModified()));
  }

  /** Everything is as it was put, but of this class. */
  public void check(String storageClass) {
    String shown = storageClass.equals("STANDARD") ? null : storageClass;
    for (Kept kept : all) {
      var got =
          s3.getObjectAsBytes(b -> b.bucket(kept.bucket).key(kept.key).versionId(kept.version));
      GetObjectResponse head = got.response();
      assertEquals(kept.content.sha256(), Content.sha256(got.asByteArrayUnsafe()), kept.key);
      assertEquals(kept.etag, head.eTag(), kept.key);
      assertEquals(kept.time, head.lastModified(), kept.key);
      assertEquals(shown, head.storageClassAsString(), kept.key);
    }
    checkPart();
    s3.listObjectsV2Paginator(b -> b.bucket(plain)).contents().stream()
        .forEach(object -> assertEquals(storageClass, object.storageClassAsString()));
    for (ObjectVersion version : s3.listObjectVersions(b -> b.bucket(versioned)).versions()) {
      assertEquals(storageClass, version.storageClassAsString(), version.key());
    }
  }

  private void checkPart() {
    byte[] bytes =
        all.stream()
            .filter(each -> each.key.equals(UPLOADED))
            .findFirst()
            .orElseThrow()
            .content
            .bytes();
    byte[] part =
        s3.getObjectAsBytes(b -> b.bucket(plain).key(UPLOADED).partNumber(2)).asByteArrayUnsafe();
    assertArrayEquals(Arrays.copyOfRange(bytes, PART_BYTES, 2 * PART_BYTES), part);
  }

  /** For good. */
  public void delete() {
    for (Kept kept : all) {
      s3.deleteObject(b -> b.bucket(kept.bucket).key(kept.key).versionId(kept.version));
    }
    Objects.requireNonNull(s3.listObjectVersions(b -> b.bucket(versioned)).deleteMarkers())
        .forEach(
            marker ->
                s3.deleteObject(
                    b -> b.bucket(versioned).key(marker.key()).versionId(marker.versionId())));
  }
}
