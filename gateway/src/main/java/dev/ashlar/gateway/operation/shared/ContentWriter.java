package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.NewBlob;
import io.netty.buffer.ByteBuf;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes the bytes of a new object or part, encrypted if need be. Used by one thread. */
public interface ContentWriter extends AutoCloseable {
  /**
   * Begins new bytes.
   *
   * @param profile the number of their profile
   * @param expectedLength of them, or -1 when unknown
   * @param key that encrypts them; null: they are stored as they are
   */
  static ContentWriter begin(
      Backend backend, int profile, long expectedLength, @Nullable NewKey key) {
    return key == null
        ? new PlainWriter(backend.store().newWriter(profile, expectedLength))
        : new SealedWriter(backend, profile, expectedLength, key);
  }

  /** Whether {@link #finish} will tell an MD5. */
  boolean hasMd5();

  /** Appends bytes. The buffer belongs to the writer from now on, also if this throws. */
  void write(ByteBuf bytes) throws DataUnavailableException, InterruptedException;

  /** Ends the bytes, and returns their MD5; null if their ETag is not to be one. */
  byte @Nullable [] finish() throws DataUnavailableException, InterruptedException;

  /** Ends the bytes, and returns their ETag: their MD5, or else 32 random digits. */
  default String finishWithEtag(Random random)
      throws DataUnavailableException, InterruptedException {
    byte[] md5 = finish();
    return md5 == null ? randomEtag(random) : HexFormat.of().formatHex(md5);
  }

  /** An ETag that tells nothing about the bytes. */
  static String randomEtag(Random random) {
    byte[] digits = new byte[16];
    random.nextBytes(digits);
    return HexFormat.of().formatHex(digits);
  }

  /** How many bytes were written. */
  long length();

  /** What was written as metadata knows it, after {@link #finish}; null: it is not encrypted. */
  @Nullable EncryptedRun run();

  /** Commits what was written, as {@link dev.ashlar.blob.ObjectWriter#commit}. */
  CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException;

  /** Removes what was written, unless it was committed. */
  @Override
  void close();
}
