package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.fault.VersionLedger.Version;
import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.Part;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Writes versions of one bucket whose bytes follow from their metadata, and reads them back. */
final class VersionClient {
  private static final String SEED = "seed";
  private static final String LENGTH = "length";

  private final S3Client s3;
  private final String bucket;
  private final VersionLedger ledger;

  /**
   * What a bucket holds.
   *
   * @param objects versions and delete markers
   * @param bytes of versions and of parts of uploads
   */
  record Usage(long objects, long bytes) {
    Usage plus(Usage other) {
      return new Usage(objects + other.objects, bytes + other.bytes);
    }
  }

  /** An entry of a listing. */
  private record Entry(String id, boolean isLatest, boolean isMarker, long size) {}

  VersionClient(S3Client s3, String bucket, VersionLedger ledger) {
    this.s3 = s3;
    this.bucket = bucket;
    this.ledger = ledger;
  }

  static boolean isRefusal(S3Exception failure, int status, String code) {
    return failure.statusCode() == status
        && failure.awsErrorDetails() != null
        && failure.awsErrorDetails().errorCode().equals(code);
  }

  /** Returns the id of the new version; empty if a quota refuses it, or if it is null. */
  Optional<String> put(String key, Content content, Consumer<PutObjectRequest.Builder> more) {
    VersionLedger.Write write = ledger.begin(key, content);
    return made(
        write,
        () ->
            s3.putObject(
                    b -> {
                      b.bucket(bucket).key(key).metadata(metadata(content));
                      more.accept(b);
                    },
                    RequestBody.fromBytes(content.bytes()))
                .versionId());
  }

  /** A request that returns the id of a version. */
  @FunctionalInterface
  interface Making {
    @Nullable String run();
  }

  static Optional<String> made(VersionLedger.Write write, Making request) {
    String id;
    try {
      id = request.run();
    } catch (S3Exception failure) {
      if (isRefusal(failure, 403, "QuotaExceeded")) {
        write.refused();
        return Optional.empty();
      }
      throw failure;
    }
    write.acknowledged(id);
    return Optional.ofNullable(id);
  }

  void copy(String source, Content content, String key) {
    var unused =
        made(
            ledger.begin(key, content),
            () ->
                s3.copyObject(
                        b ->
                            b.sourceBucket(bucket)
                                .sourceKey(source)
                                .destinationBucket(bucket)
                                .destinationKey(key))
                    .versionId());
  }

  /** An upload of one part; a part that a quota refuses ends it. */
  void upload(String key, Content content) {
    String id =
        s3.createMultipartUpload(b -> b.bucket(bucket).key(key).metadata(metadata(content)))
            .uploadId();
    String eTag;
    try {
      eTag =
          s3.uploadPart(
                  b -> b.bucket(bucket).key(key).uploadId(id).partNumber(1),
                  RequestBody.fromBytes(content.bytes()))
              .eTag();
    } catch (S3Exception failure) {
      if (isRefusal(failure, 403, "QuotaExceeded")) {
        s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(id));
        return;
      }
      throw failure;
    }
    CompletedPart part = CompletedPart.builder().partNumber(1).eTag(eTag).build();
    var unused =
        made(
            ledger.begin(key, content),
            () ->
                s3.completeMultipartUpload(
                        b ->
                            b.bucket(bucket)
                                .key(key)
                                .uploadId(id)
                                .multipartUpload(m -> m.parts(part)))
                    .versionId());
  }

  /** Puts a delete marker on top; a quota of objects may refuse it. */
  void delete(String key) {
    var unused =
        made(
            ledger.begin(key, null),
            () -> {
              var answer = s3.deleteObject(b -> b.bucket(bucket).key(key));
              assertTrue(answer.deleteMarker(), key);
              return answer.versionId();
            });
  }

  void deleteVersion(String key, String id, boolean bypassesGovernance) {
    Runnable acknowledged = ledger.beginDeletion(key, id);
    s3.deleteObject(
        b -> {
          b.bucket(bucket).key(key).versionId(id);
          if (bypassesGovernance) {
            b.bypassGovernanceRetention(true);
          }
        });
    acknowledged.run();
  }

  /** Reads a version that was acknowledged. */
  void check(String key, Version version) {
    Content content = version.content();
    if (content == null) {
      return;
    }
    try {
      assertEquals(content, content(read(key, version.id())), key);
    } catch (S3Exception failure) {
      if (!isRefusal(failure, 404, "NoSuchVersion") || !ledger.mayBeDeleted(key, version.id())) {
        throw new AssertionError(bucket + " " + key + " " + version, failure);
      }
    }
  }

  /** Its bytes are verified. */
  private ResponseBytes<GetObjectResponse> read(String key, @Nullable String id) {
    var got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).versionId(id));
    assertEquals(content(got).sha256(), Content.sha256(got.asByteArrayUnsafe()), key);
    return got;
  }

  private static Content content(ResponseBytes<GetObjectResponse> got) {
    Map<String, String> metadata = got.response().metadata();
    return new Content(Long.parseLong(metadata.get(SEED)), Integer.parseInt(metadata.get(LENGTH)));
  }

  private static Map<String, String> metadata(Content content) {
    return Map.of(SEED, "" + content.seed(), LENGTH, "" + content.length());
  }

  /** What is looked at of each version beside its bytes. */
  @FunctionalInterface
  interface Look {
    void at(String key, GetObjectResponse version);
  }

  /** At rest: every version is read, and the ledger must allow all that is there. */
  Usage checkAll(Look look) {
    Map<String, List<Entry>> listed = list();
    ledger.keys().forEach(key -> listed.putIfAbsent(key, List.of()));
    Usage usage = new Usage(0, 0);
    for (Map.Entry<String, List<Entry>> key : listed.entrySet()) {
      List<Version> versions = new ArrayList<>();
      List<Version> latest = new ArrayList<>();
      for (Entry entry : key.getValue()) {
        Version version = version(key.getKey(), entry, look);
        versions.add(version);
        if (entry.isLatest()) {
          latest.add(version);
        }
        usage = usage.plus(new Usage(1, entry.size()));
      }
      assertEquals(versions.isEmpty() ? 0 : 1, latest.size(), key.toString());
      ledger.settle(key.getKey(), versions, latest);
      checkPresent(key.getKey(), latest);
    }
    return usage.plus(new Usage(0, endUploads()));
  }

  private Version version(String key, Entry entry, Look look) {
    if (entry.isMarker()) {
      return new Version(entry.id(), null);
    }
    var got = read(key, entry.id());
    assertEquals(entry.size(), got.response().contentLength(), key);
    look.at(key, got.response());
    return new Version(entry.id(), content(got));
  }

  /** Without an id the newest version is read. */
  private void checkPresent(String key, List<Version> latest) {
    Content expected = latest.isEmpty() ? null : latest.getFirst().content();
    Content observed = null;
    try {
      observed = content(read(key, null));
    } catch (S3Exception failure) {
      assertTrue(isRefusal(failure, 404, "NoSuchKey"), () -> key + " " + failure);
    }
    assertEquals(expected, observed, key);
  }

  /** The versions of each key newest first, and then its markers: the SDK keeps them apart. */
  private Map<String, List<Entry>> list() {
    Map<String, List<Entry>> all = new TreeMap<>();
    Map<String, List<Entry>> markers = new TreeMap<>();
    for (ListObjectVersionsResponse page :
        s3.listObjectVersionsPaginator(b -> b.bucket(bucket).maxKeys(50))) {
      for (ObjectVersion it : page.versions()) {
        Entry entry = new Entry(it.versionId(), it.isLatest(), false, it.size());
        all.computeIfAbsent(it.key(), any -> new ArrayList<>()).add(entry);
      }
      for (DeleteMarkerEntry it : page.deleteMarkers()) {
        Entry entry = new Entry(it.versionId(), it.isLatest(), true, 0);
        markers.computeIfAbsent(it.key(), any -> new ArrayList<>()).add(entry);
      }
    }
    markers.forEach((key, list) -> all.computeIfAbsent(key, k -> new ArrayList<>()).addAll(list));
    return all;
  }

  /** Returns the bytes that the parts of uploads had. */
  private long endUploads() {
    long bytes = 0;
    for (MultipartUpload upload :
        s3.listMultipartUploadsPaginator(b -> b.bucket(bucket)).uploads()) {
      bytes +=
          s3
              .listParts(b -> b.bucket(bucket).key(upload.key()).uploadId(upload.uploadId()))
              .parts()
              .stream()
              .mapToLong(Part::size)
              .sum();
    }
    return bytes;
  }

  /** Ends the uploads that are under way. */
  void abortUploads() {
    for (MultipartUpload upload :
        s3.listMultipartUploadsPaginator(b -> b.bucket(bucket)).uploads()) {
      s3.abortMultipartUpload(b -> b.bucket(bucket).key(upload.key()).uploadId(upload.uploadId()));
    }
  }
}
