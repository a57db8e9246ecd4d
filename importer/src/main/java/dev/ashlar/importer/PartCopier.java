package dev.ashlar.importer;

import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.Part;
import software.amazon.awssdk.services.s3.model.Tagging;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * Copies an object part by part, so that its ETag stays the same. An upload that an interrupted
 * import has left is continued.
 */
final class PartCopier {
  private static final String OCTETS = "application/octet-stream";

  private final SourceReader source;
  private final Side target;
  private final String bucket;
  private final Tally tally;
  private final Clock clock;
  private final LiveAttributes live;
  private final ExecutorService threads;

  PartCopier(
      SourceReader source,
      Side target,
      LiveAttributes live,
      Tally tally,
      Clock clock,
      ExecutorService threads) {
    this.source = source;
    this.target = target;
    this.bucket = live.bucket();
    this.live = live;
    this.tally = tally;
    this.clock = clock;
    this.threads = threads;
  }

  /** An upload and the ETags of the parts that it has. */
  private record Upload(String id, Map<Integer, String> parts) {}

  /**
   * False if the ETag cannot be made again from the parts that the source names; then nothing was
   * written.
   */
  boolean copy(Version version) throws IOException {
    if (!namesParts(version)) {
      return false;
    }
    Upload found = unfinished(version);
    if (found == null) {
      return copyAnew(version);
    }
    String copy = complete(version, found);
    if (copy == null) {
      // It may be somebody else's, so it stays. A new upload tells whether the parts fit.
      tally.moved(-version.size());
      return copyAnew(version);
    }
    return hasItsAttributes(version, copy) || copyAnew(version);
  }

  /** Those of a new upload are from the source. Whoever began another one may have had others. */
  private boolean hasItsAttributes(Version version, String id) {
    List<String> differences = new ArrayList<>();
    Version copy =
        new Version(version.key(), id, false, version.etag(), version.size(), version.modified());
    live.bring(version, copy, differences::add);
    if (differences.isEmpty()) {
      return true;
    }
    tally.moved(-version.size());
    if (live.hasVersions()) {
      target.s3().deleteObject(r -> r.bucket(bucket).key(version.key()).versionId(id));
    }
    return false;
  }

  private boolean copyAnew(Version version) throws IOException {
    Upload upload = create(version);
    boolean isDone = false;
    boolean isKept = false;
    try {
      isDone = complete(version, upload) != null;
    } catch (IOException | RuntimeException e) {
      // After a failure of another kind, the next run goes on with it.
      isKept = !SourceChangedException.isCauseOf(e);
      throw e;
    } finally {
      if (!isDone && !isKept) {
        abort(version, upload);
      }
    }
    return isDone;
  }

  private boolean namesParts(Version version) {
    HeadObjectResponse first = source.head(version, 1);
    Integer count = first.partsCount();
    return version.parts() == 1
        ? first.contentLength() == version.size()
        : count != null && count == version.parts();
  }

  private @Nullable Upload unfinished(Version version) {
    MultipartUpload latest =
        target
            .s3()
            .listMultipartUploadsPaginator(
                r -> r.bucket(bucket).prefix(version.key()).encodingType(EncodingType.URL))
            .uploads()
            .stream()
            .filter(each -> each.key().equals(version.key()))
            .filter(each -> !each.initiated().isBefore(version.modified()))
            .max(Comparator.comparing(MultipartUpload::initiated))
            .orElse(null);
    if (latest == null) {
      return null;
    }
    Map<Integer, String> parts = new HashMap<>();
    for (Part part :
        target
            .s3()
            .listPartsPaginator(
                r -> r.bucket(bucket).key(version.key()).uploadId(latest.uploadId()))
            .parts()) {
      parts.put(part.partNumber(), Digests.unquoted(part.eTag()));
      if (part.partNumber() <= version.parts()) {
        tally.moved(part.size());
      }
    }
    return new Upload(latest.uploadId(), parts);
  }

  private Upload create(Version version) {
    Attributes attributes = Attributes.of(source.head(version, null));
    CreateMultipartUploadRequest.Builder request =
        CreateMultipartUploadRequest.builder().bucket(bucket).key(version.key());
    if (attributes.tags() > 0) {
      request.tagging(Tagging.builder().tagSet(source.tags(version)).build());
    }
    Instant now = clock.instant();
    attributes.put(request, now);
    return new Upload(
        target.s3().createMultipartUpload(request.build()).uploadId(), new HashMap<>());
  }

  /** The id of the version that it has become; null if the parts do not make the ETag. */
  private @Nullable String complete(Version version, Upload upload) throws IOException {
    List<Future<String>> etags = new ArrayList<>();
    for (int number = 1; number <= version.parts(); number++) {
      int part = number;
      String present = upload.parts().get(part);
      etags.add(threads.submit(() -> present == null ? copyPart(version, upload, part) : present));
    }
    List<String> parts = new ArrayList<>();
    try {
      for (Future<String> each : etags) {
        parts.add(each.get());
      }
    } catch (ExecutionException e) {
      throw failure(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      etags.forEach(each -> each.cancel(true));
    }
    if (!Digests.ofParts(parts).equals(version.etag())) {
      return null;
    }
    return complete(version, upload, parts);
  }

  private static IOException failure(@Nullable Throwable cause) {
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    return cause instanceof IOException checked
        ? checked
        : new IOException(String.valueOf(cause), cause);
  }

  private String copyPart(Version version, Upload upload, int part) throws IOException {
    ResponseInputStream<GetObjectResponse> opened = source.open(version, part);
    long bytes = opened.response().contentLength();
    try (Body body = new Body(opened, () -> source.open(version, part), tally::moved)) {
      UploadPartResponse answer =
          target
              .s3()
              .uploadPart(
                  r -> r.bucket(bucket).key(version.key()).uploadId(upload.id()).partNumber(part),
                  RequestBody.fromContentProvider(body, bytes, OCTETS));
      String md5 = body.md5();
      String etag = Digests.unquoted(answer.eTag());
      if (!md5.equals(etag)) {
        throw new IOException("part " + part + " has become " + etag + " instead of " + md5);
      }
      return etag;
    }
  }

  private String complete(Version version, Upload upload, List<String> etags) throws IOException {
    List<CompletedPart> parts = new ArrayList<>();
    for (String etag : etags) {
      parts.add(CompletedPart.builder().partNumber(parts.size() + 1).eTag(etag).build());
    }
    CompleteMultipartUploadRequest request =
        CompleteMultipartUploadRequest.builder()
            .bucket(bucket)
            .key(version.key())
            .uploadId(upload.id())
            .multipartUpload(CompletedMultipartUpload.builder().parts(parts).build())
            .build();
    CompleteMultipartUploadResponse answer = target.s3().completeMultipartUpload(request);
    String etag = Digests.unquoted(answer.eTag());
    if (!etag.equals(version.etag())) {
      throw new IOException("the target's ETag is " + etag + " instead of " + version.etag());
    }
    return Objects.requireNonNullElse(answer.versionId(), "null");
  }

  private void abort(Version version, Upload upload) {
    target
        .s3()
        .abortMultipartUpload(r -> r.bucket(bucket).key(version.key()).uploadId(upload.id()));
    tally.moved(-version.size());
  }
}
