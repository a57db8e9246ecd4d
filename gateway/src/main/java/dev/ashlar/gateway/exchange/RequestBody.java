package dev.ashlar.gateway.exchange;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Bytes that arrive; decorators verify signatures and checksums on the way. */
public interface RequestBody {
  /** Bytes this body will deliver, or -1 when only its end will tell. */
  long length();

  /**
   * Waits for more bytes. The caller releases what it gets.
   *
   * @return null at the end of a body that arrived whole and verified
   * @throws S3Exception when it ends early, takes too long, or does not match what was promised
   */
  @Nullable ByteBuf read() throws S3Exception, InterruptedException;
}
