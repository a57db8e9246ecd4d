package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.MetadataDirective;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Random operations, each done to the server and to the model and compared. */
final class ModelOperations {
  private static final int PART_BYTES_MIN = 5 << 20;
  private static final String ABSENT_ETAG = "\"ffffffffffffffffffffffffffffffff\"";

  private final S3Client s3;
  private final SplittableRandom random;
  private final String bucket;
  private final Model model = new Model();

  ModelOperations(S3Client s3, SplittableRandom random) {
    this.s3 = s3;
    this.random = random;
    bucket = Buckets.create(s3, "model");
  }

  void step() {
    int dice = random.nextInt(1000);
    if (dice < 300) {
      put();
    } else if (dice < 500) {
      get(key());
    } else if (dice < 640) {
      range();
    } else if (dice < 740) {
      delete();
    } else if (dice < 820) {
      copy();
    } else if (dice < 900) {
      list();
    } else if (dice < 950) {
      conditionalPut();
    } else if (dice < 985) {
      conditionalGet();
    } else if (dice < 997) {
      deleteMany();
    } else {
      multipart();
    }
  }

  /** Everything the model holds is there, and nothing else. */
  void compareAll() {
    List<String> listed =
        s3.listObjectsV2Paginator(b -> b.bucket(bucket).maxKeys(37)).contents().stream()
            .map(S3Object::key)
            .toList();
    assertEquals(List.copyOf(model.objects.keySet()), listed);
    listed.forEach(this::get);
  }

  private void put() {
    String key = key();
    Model.Stored stored = Model.Stored.of(bytes(), metadata());
    var answer =
        s3.putObject(
            b -> b.bucket(bucket).key(key).metadata(stored.metadata()),
            RequestBody.fromBytes(stored.bytes()));
    assertEquals(stored.eTag(), answer.eTag());
    model.objects.put(key, stored);
  }

  private void get(String key) {
    Model.@Nullable Stored stored = model.objects.get(key);
    if (stored == null) {
      assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key(key)));
      return;
    }
    ResponseBytes<GetObjectResponse> got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key));
    assertArrayEquals(stored.bytes(), got.asByteArrayUnsafe(), key);
    assertEquals(stored.eTag(), got.response().eTag(), key);
    assertEquals(stored.metadata(), got.response().metadata(), key);
  }

  private void range() {
    String key = key();
    Model.@Nullable Stored stored = model.objects.get(key);
    if (stored == null || stored.bytes().length == 0) {
      return;
    }
    int length = stored.bytes().length;
    int first = random.nextInt(length);
    int last = Math.min(length - 1, first + random.nextInt(100_000));
    byte[] got =
        s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).range("bytes=" + first + "-" + last))
            .asByteArrayUnsafe();
    assertArrayEquals(Arrays.copyOfRange(stored.bytes(), first, last + 1), got, key);
  }

  private void delete() {
    String key = key();
    s3.deleteObject(b -> b.bucket(bucket).key(key));
    model.objects.remove(key);
  }

  private void deleteMany() {
    List<ObjectIdentifier> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(ObjectIdentifier.builder().key(key()).build());
    }
    s3.deleteObjects(b -> b.bucket(bucket).delete(d -> d.objects(ids)));
    ids.forEach(id -> model.objects.remove(id.key()));
  }

  private void copy() {
    String source = key();
    String target = key();
    Map<String, String> fresh = metadata();
    boolean replace = random.nextBoolean() || source.equals(target);
    Runnable call =
        () ->
            s3.copyObject(
                b -> {
                  b.sourceBucket(bucket).sourceKey(source);
                  b.destinationBucket(bucket).destinationKey(target);
                  if (replace) {
                    b.metadataDirective(MetadataDirective.REPLACE).metadata(fresh);
                  }
                });
    Model.@Nullable Stored stored = model.objects.get(source);
    if (stored == null) {
      assertFails(404, "NoSuchKey", call);
      return;
    }
    call.run();
    model.objects.put(target, replace ? stored.with(fresh) : stored);
  }

  private void list() {
    String prefix = random.nextInt(3) == 0 ? "" : "p" + random.nextInt(4) + "/";
    String delimiter = random.nextBoolean() ? "/" : "";
    // Whether a start inside a folder still shows the folder is not specified: only without one.
    String after = random.nextBoolean() || !delimiter.isEmpty() ? "" : key();
    int max = 1 + random.nextInt(20);
    var page =
        s3.listObjectsV2(
            b ->
                b.bucket(bucket)
                    .prefix(prefix)
                    .delimiter(delimiter.isEmpty() ? null : delimiter)
                    .startAfter(after.isEmpty() ? null : after)
                    .maxKeys(max));
    Model.Page expected = model.list(prefix, delimiter, after, max);
    assertEquals(expected.keys(), page.contents().stream().map(S3Object::key).toList());
    assertEquals(
        expected.prefixes(), page.commonPrefixes().stream().map(CommonPrefix::prefix).toList());
  }

  private void conditionalPut() {
    String key = key();
    Model.@Nullable Stored stored = model.objects.get(key);
    Model.Stored fresh = Model.Stored.of(bytes(), Map.of());
    RequestBody body = RequestBody.fromBytes(fresh.bytes());
    if (random.nextBoolean()) {
      Runnable call = () -> s3.putObject(b -> b.bucket(bucket).key(key).ifNoneMatch("*"), body);
      if (stored != null) {
        assertFails(412, "PreconditionFailed", call);
        return;
      }
      call.run();
    } else {
      String wanted = stored == null || random.nextBoolean() ? ABSENT_ETAG : stored.eTag();
      Runnable call = () -> s3.putObject(b -> b.bucket(bucket).key(key).ifMatch(wanted), body);
      if (stored == null) {
        assertFails(404, "NoSuchKey", call);
        return;
      }
      if (!wanted.equals(stored.eTag())) {
        assertFails(412, "PreconditionFailed", call);
        return;
      }
      call.run();
    }
    model.objects.put(key, fresh);
  }

  private void conditionalGet() {
    String key = key();
    Model.@Nullable Stored stored = model.objects.get(key);
    if (stored == null) {
      assertFails(404, () -> s3.headObject(b -> b.bucket(bucket).key(key)));
      return;
    }
    assertFails(304, () -> s3.getObject(b -> b.bucket(bucket).key(key).ifNoneMatch(stored.eTag())));
    assertFails(
        412,
        "PreconditionFailed",
        () -> s3.getObject(b -> b.bucket(bucket).key(key).ifMatch(ABSENT_ETAG)));
    var head = s3.headObject(b -> b.bucket(bucket).key(key).ifMatch(stored.eTag()));
    assertEquals(stored.bytes().length, head.contentLength());
  }

  /** A part of fresh bytes, then maybe parts copied from what is there. */
  private void multipart() {
    String key = key();
    Map<String, String> metadata = metadata();
    String upload =
        s3.createMultipartUpload(b -> b.bucket(bucket).key(key).metadata(metadata)).uploadId();
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    byte[] first = randomBytes(PART_BYTES_MIN + random.nextInt(50_000));
    whole.writeBytes(first);
    List<CompletedPart> parts = new ArrayList<>();
    var done =
        s3.uploadPart(
            b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(1),
            RequestBody.fromBytes(first));
    parts.add(CompletedPart.builder().partNumber(1).eTag(done.eTag()).build());
    String source = key();
    Model.@Nullable Stored stored = model.objects.get(source);
    if (stored != null && stored.bytes().length > 0) {
      int last = random.nextInt(stored.bytes().length);
      var copied =
          s3.uploadPartCopy(
              b ->
                  b.sourceBucket(bucket)
                      .sourceKey(source)
                      .destinationBucket(bucket)
                      .destinationKey(key)
                      .uploadId(upload)
                      .partNumber(2)
                      .copySourceRange("bytes=0-" + last));
      String eTag = copied.copyPartResult().eTag();
      parts.add(CompletedPart.builder().partNumber(2).eTag(eTag).build());
      whole.writeBytes(Arrays.copyOf(stored.bytes(), last + 1));
    }
    finish(key, upload, parts, whole.toByteArray(), metadata);
  }

  private void finish(
      String key,
      String upload,
      List<CompletedPart> parts,
      byte[] bytes,
      Map<String, String> metadata) {
    if (random.nextInt(4) == 0) {
      s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(upload));
      return;
    }
    var list = CompletedMultipartUpload.builder().parts(parts).build();
    String eTag =
        s3.completeMultipartUpload(
                b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(list))
            .eTag();
    model.objects.put(key, new Model.Stored(bytes, eTag, metadata));
  }

  /** Few keys, so that operations meet; some with folders, some one inside the other. */
  private String key() {
    String name = "k" + random.nextInt(25);
    return random.nextInt(3) == 0 ? name : "p" + random.nextInt(4) + "/" + name;
  }

  private Map<String, String> metadata() {
    return random.nextBoolean() ? Map.of() : Map.of("m", "" + random.nextInt());
  }

  private byte[] bytes() {
    return randomBytes(random.nextInt(1 << random.nextInt(1, 19)));
  }

  private byte[] randomBytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
