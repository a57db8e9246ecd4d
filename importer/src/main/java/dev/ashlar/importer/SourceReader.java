package dev.ashlar.importer;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.Tag;

/** Reads versions of a bucket of the source, exactly as they were listed. */
final class SourceReader {
  private static final int COPY_BYTES = 64 << 10;
  private static final int FORBIDDEN = 403;

  private final Side side;
  private final String bucket;
  private final boolean hasVersions;

  SourceReader(Side side, String bucket, boolean hasVersions) {
    this.side = side;
    this.bucket = bucket;
    this.hasVersions = hasVersions;
  }

  /** Null where the bucket has no versions: then there is no id to ask for. */
  private @Nullable String id(Version version) {
    return hasVersions ? version.id() : null;
  }

  /**
   * @param part null: the whole object
   * @throws SourceChangedException if the version is not as it was listed
   */
  ResponseInputStream<GetObjectResponse> open(Version version, @Nullable Integer part) {
    GetObjectRequest request =
        GetObjectRequest.builder()
            .bucket(bucket)
            .key(version.key())
            .versionId(id(version))
            .partNumber(part)
            .ifMatch(version.etag())
            .checksumMode(ChecksumMode.ENABLED)
            .build();
    try {
      return side.s3().getObject(request);
    } catch (S3Exception e) {
      throw changedOr(e);
    }
  }

  /**
   * @param part null: the whole object
   */
  HeadObjectResponse head(Version version, @Nullable Integer part) {
    try {
      return side.s3()
          .headObject(
              r ->
                  r.bucket(bucket)
                      .key(version.key())
                      .versionId(id(version))
                      .partNumber(part)
                      .ifMatch(version.etag())
                      .checksumMode(ChecksumMode.ENABLED));
    } catch (S3Exception e) {
      throw changedOr(e);
    }
  }

  List<Tag> tags(Version version) {
    try {
      return side.s3()
          .getObjectTagging(r -> r.bucket(bucket).key(version.key()).versionId(id(version)))
          .tagSet();
    } catch (S3Exception e) {
      throw changedOr(e);
    }
  }

  /**
   * Without these rights, services leave tags and locks out of their answers, and say nothing.
   *
   * @param version to try them with
   * @throws IOException if one is missing
   */
  void requireRights(Version version, boolean isLocking) throws IOException {
    require(
        "s3:GetObjectTagging",
        () ->
            side.s3()
                .getObjectTagging(r -> r.bucket(bucket).key(version.key()).versionId(id(version))));
    if (isLocking) {
      require(
          "s3:GetObjectRetention",
          () ->
              side.s3()
                  .getObjectRetention(
                      r -> r.bucket(bucket).key(version.key()).versionId(id(version))));
      require(
          "s3:GetObjectLegalHold",
          () ->
              side.s3()
                  .getObjectLegalHold(
                      r -> r.bucket(bucket).key(version.key()).versionId(id(version))));
    }
  }

  private static void require(String right, Runnable request) throws IOException {
    try {
      request.run();
    } catch (S3Exception e) {
      if (e.statusCode() == FORBIDDEN) {
        throw new IOException("the source's user has no right to " + right, e);
      }
      // Anything else is not about rights: there is no retention, or the version has vanished.
    }
  }

  /** The MD5 sum of the content in hexadecimal digits. */
  String md5(Version version) throws IOException {
    MessageDigest md5 = Digests.md5();
    try (InputStream body = open(version, null)) {
      byte[] buffer = new byte[COPY_BYTES];
      for (int count = body.read(buffer); count >= 0; count = body.read(buffer)) {
        md5.update(buffer, 0, count);
      }
    }
    return HexFormat.of().formatHex(md5.digest());
  }

  /**
   * Versions with an id stay as they are. What can be replaced may have been while it was copied.
   *
   * @throws SourceChangedException if it was
   * @throws IOException if the source does not tell
   */
  void requireUnchanged(Version version) throws IOException {
    if (version.isReplaceable()) {
      Instant modified = head(version, null).lastModified();
      if (modified == null) {
        throw new IOException("the source does not say when it was modified");
      }
      // The header has whole seconds.
      if (modified.getEpochSecond() != version.modified().getEpochSecond()) {
        throw new SourceChangedException(version.key());
      }
    }
  }

  private static RuntimeException changedOr(S3Exception answer) {
    return SourceChangedException.isSaidBy(answer)
        ? new SourceChangedException(String.valueOf(answer.getMessage()))
        : answer;
  }
}
