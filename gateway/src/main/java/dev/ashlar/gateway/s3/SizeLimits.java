package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/** How large uploads and objects may be ("Amazon S3 multipart upload limits", S3 User Guide). */
public final class SizeLimits {
  /** Of a PUT, a part, or a copy. */
  public static final long UPLOAD_BYTES_MAX = 5L << 30;

  /** Of an object, made of parts or appended to. */
  public static final long OBJECT_BYTES_MAX = 5L << 40;

  private SizeLimits() {}

  /**
   * Requires a body that one request may bring.
   *
   * @param bodyLength what there is of it so far; -1 when that is not known yet
   */
  public static void requireUploadable(long bodyLength) throws S3Exception {
    if (bodyLength > UPLOAD_BYTES_MAX) {
      throw tooLarge(bodyLength, UPLOAD_BYTES_MAX);
    }
  }

  public static S3Exception tooLarge(long size, long max) {
    return new S3Exception(S3Error.ENTITY_TOO_LARGE)
        .with("ProposedSize", size)
        .with("MaxSizeAllowed", max);
  }

  /** Requires a source that one copy may take. */
  public static void requireCopyable(long size) throws S3Exception {
    if (size > UPLOAD_BYTES_MAX) {
      throw S3Exception.invalidRequest(
          "The specified copy source is larger than the maximum allowable size for a copy source: "
              + UPLOAD_BYTES_MAX);
    }
  }
}
