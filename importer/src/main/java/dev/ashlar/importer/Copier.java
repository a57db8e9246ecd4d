package dev.ashlar.importer;

import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.model.Tagging;

/** Copies versions of a bucket, one request or one upload each. For many threads. */
final class Copier {
  private static final String BAD_DIGEST = "BadDigest";
  private static final long PUT_BYTES_MAX = 5L << 30;
  private static final String OCTETS = "application/octet-stream";

  private final SourceReader source;
  private final Side target;
  private final String bucket;
  private final Tally tally;
  private final Clock clock;
  private final boolean isTargetRetaining;
  private final PartCopier parts;

  /**
   * @param isTargetRetaining whether the target's bucket retains what comes without a retention
   * @param partThreads copy the parts of objects
   */
  Copier(
      SourceReader source,
      Side target,
      LiveAttributes live,
      boolean isTargetRetaining,
      Tally tally,
      Clock clock,
      ExecutorService partThreads) {
    this.source = source;
    this.target = target;
    this.bucket = live.bucket();
    this.tally = tally;
    this.clock = clock;
    this.isTargetRetaining = isTargetRetaining;
    this.parts = new PartCopier(source, target, live, tally, clock, partThreads);
  }

  /**
   * Makes a copy of a version the newest version of its key.
   *
   * @throws SourceChangedException if the source is no longer as it was listed
   * @throws IOException if source and copy cannot be made the same
   */
  void copy(Version version) throws IOException {
    if (version.isMarker()) {
      target.s3().deleteObject(r -> r.bucket(bucket).key(version.key()));
      tally.copied(version);
      return;
    }
    if (isTargetRetaining
        && !Attributes.of(source.head(version, null)).isRetained(clock.instant())) {
      throw new IOException(
          "it has no retention, and the target's bucket would give it its default one: take that"
              + " off, or use --mirror without a prefix");
    }
    if (version.parts() == 0) {
      copyWhole(version);
    } else if (!parts.copy(version)) {
      copyWithNote(version);
    }
    tally.copied(version);
    source.requireUnchanged(version);
  }

  private void copyWhole(Version version) throws IOException {
    ResponseInputStream<GetObjectResponse> opened = source.open(version, null);
    Attributes attributes = Attributes.of(opened.response());
    if (attributes.isEtagOfOtherBytes() || !version.hasMd5()) {
      opened.abort();
      copyWithNote(version);
      return;
    }
    String refused = put(version, opened, attributes, version.etag());
    if (version.etag().equals(refused)) { // damaged on its way to the target
      refused = put(version, source.open(version, null), attributes, version.etag());
    }
    if (refused != null) {
      throw new IOException(
          refused.equals(version.etag())
              ? "the target refuses its bytes: the checksum that the source has is not theirs"
              : "the source's bytes do not have the MD5 sum of its ETag");
    }
  }

  /**
   * The ETag is not made from the bytes as MD5 sums are: the copy keeps it in its metadata. The
   * content is read twice, and is the same both times.
   */
  private void copyWithNote(Version version) throws IOException {
    if (version.size() > PUT_BYTES_MAX) {
      throw new IOException(
          "its ETag cannot be made again, and it is too large to be one part: copy it by hand");
    }
    String md5 = source.md5(version);
    ResponseInputStream<GetObjectResponse> opened = source.open(version, null);
    Attributes attributes = Attributes.of(opened.response()).withImportedEtag(version.etag());
    if (put(version, opened, attributes, md5) != null) {
      throw new IOException("the target refuses its bytes: they are not those of the first time");
    }
  }

  /**
   * The target refuses content that does not have this MD5 sum.
   *
   * @return the sum of the content that it has refused; null: it has taken it
   */
  private @Nullable String put(
      Version version,
      ResponseInputStream<GetObjectResponse> opened,
      Attributes attributes,
      String md5)
      throws IOException {
    try (Body body = new Body(opened, () -> source.open(version, null), tally::moved)) {
      PutObjectRequest.Builder request =
          PutObjectRequest.builder()
              .bucket(bucket)
              .key(version.key())
              .contentMD5(Digests.base64(md5))
              .tagging(tagging(attributes, version));
      attributes.put(request, clock.instant());
      PutObjectResponse answer;
      try {
        answer =
            target
                .s3()
                .putObject(
                    request.build(), RequestBody.fromContentProvider(body, version.size(), OCTETS));
      } catch (RuntimeException e) {
        body.discard();
        if (e instanceof S3Exception refusal
            && refusal.awsErrorDetails() != null
            && BAD_DIGEST.equals(refusal.awsErrorDetails().errorCode())) {
          return body.md5();
        }
        throw e;
      }
      String etag = Digests.unquoted(answer.eTag());
      if (!etag.equals(md5)) {
        throw new IOException("the target's ETag is " + etag + " instead of " + md5);
      }
      return null;
    }
  }

  private @Nullable Tagging tagging(Attributes attributes, Version version) {
    List<Tag> tags = attributes.tags() == 0 ? List.of() : source.tags(version);
    return tags.isEmpty() ? null : Tagging.builder().tagSet(tags).build();
  }
}
