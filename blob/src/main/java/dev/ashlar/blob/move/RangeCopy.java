package dev.ashlar.blob.move;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import java.nio.ByteBuffer;

/**
 * Reads a range of an object and writes it as new blobs of a profile.
 *
 * @param range not empty
 * @param profile its number
 */
public record RangeCopy(ObjectRead source, ByteRange range, int profile) {
  /** Sees the bytes on their way, and may hold them up. */
  public interface Observer {
    /**
     * @param bytes to be read only in the call
     */
    void pass(ByteBuffer bytes) throws InterruptedException;
  }

  /** Commits what was written, or refuses that. */
  public interface Commit<T, E extends Exception> {
    T commit(ObjectWriter written) throws E, UnavailableException, InterruptedException;
  }

  /** Copies the bytes and commits them. What is not committed is removed. */
  public <T, E extends Exception> T run(ObjectStore store, Observer observer, Commit<T, E> commit)
      throws E, UnavailableException, InterruptedException {
    try (ObjectWriter writer = store.newWriter(profile, range.length())) {
      store.read(source, range, piece -> copy(piece, observer, writer));
      return commit.commit(writer);
    }
  }

  private static void copy(ShardData piece, Observer observer, ObjectWriter writer)
      throws DataUnavailableException, InterruptedException {
    try {
      observer.pass(piece.bytes().duplicate());
      writer.write(piece.bytes());
    } finally {
      piece.release();
    }
  }
}
