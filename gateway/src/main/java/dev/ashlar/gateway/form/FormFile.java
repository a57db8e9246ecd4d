package dev.ashlar.gateway.form;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The file of a form, as the body of an upload. It has ended when the whole form has: only then it
 * is known that the form is well-formed and has one file.
 */
public final class FormFile implements RequestBody {
  private final MultipartReader reader;
  private long bytesMin;
  private long bytesMax = Long.MAX_VALUE;
  private long bytes;
  private boolean ended;

  FormFile(MultipartReader reader) {
    this.reader = reader;
  }

  /** Bounds its size, further than it was before. Before the first read. */
  public void bound(long min, long max) {
    bytesMin = Math.max(bytesMin, min);
    bytesMax = Math.min(bytesMax, max);
  }

  /** Unknown: the boundary ends it. */
  @Override
  public long length() {
    return -1;
  }

  /**
   * @throws S3Exception also EntityTooLarge, EntityTooSmall, IncorrectNumberOfFilesInPostRequest
   */
  @Override
  public @Nullable ByteBuf read() throws S3Exception, InterruptedException {
    ByteBuf piece = ended ? null : reader.content();
    if (piece != null) {
      bytes += piece.readableBytes();
      if (bytes > bytesMax) {
        piece.release();
        throw new S3Exception(S3Error.ENTITY_TOO_LARGE)
            .with("ProposedSize", bytes)
            .with("MaxSizeAllowed", bytesMax);
      }
      return piece;
    }
    if (!ended) {
      ended = true;
      if (bytes < bytesMin) {
        throw new S3Exception(S3Error.ENTITY_TOO_SMALL)
            .with("ProposedSize", bytes)
            .with("MinSizeAllowed", bytesMin);
      }
      requireNoOther();
    }
    return null;
  }

  private void requireNoOther() throws S3Exception, InterruptedException {
    reader.renewBudget();
    for (PartHead head = reader.next(); head != null; head = reader.next()) {
      if (head.name().equals("file")) {
        throw wrongNumber();
      }
    }
    reader.finish();
  }

  static S3Exception wrongNumber() {
    return new S3Exception(S3Error.INCORRECT_NUMBER_OF_FILES_IN_POST_REQUEST);
  }
}
