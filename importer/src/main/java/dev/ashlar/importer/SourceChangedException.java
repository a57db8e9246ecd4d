package dev.ashlar.importer;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** A version of the source is no longer as it was listed: the key has to be looked at again. */
final class SourceChangedException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final int NOT_FOUND = 404;
  private static final int PRECONDITION_FAILED = 412;

  SourceChangedException(String what) {
    super(what);
  }

  /** Whether this answer of the source says so. */
  static boolean isSaidBy(S3Exception answer) {
    return answer.statusCode() == NOT_FOUND || answer.statusCode() == PRECONDITION_FAILED;
  }

  /** Whether it is a cause of this failure. */
  static boolean isCauseOf(@Nullable Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof SourceChangedException) {
        return true;
      }
    }
    return false;
  }
}
