package dev.ashlar.gateway.exchange;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The body of a request. Decorators verify signatures and checksums. */
public interface RequestBody {
  /** The number of bytes that this body has, or -1 if it is unknown. */
  long length();

  /**
   * Waits for the next bytes; the caller releases the buffer.
   *
   * @return null at the end of a body that arrived whole and verified
   * @throws S3Exception when it ends early, takes too long, or does not match what was promised
   */
  @Nullable ByteBuf read() throws S3Exception, InterruptedException;
}
