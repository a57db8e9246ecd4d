package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.io.CheckedFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The batch up to which the index was durable when segments were last freed. An index that ends
 * before it has lost writes, for example because its manifest was cut off: it may need records of
 * freed segments, so it cannot be replayed and has to be rebuilt. Stored in 20 bytes:
 *
 * <pre>
 * magic 4 | version 2 | 0 2 | sequence 8 | crc32c 4
 * </pre>
 */
public record IndexFloor(RawFiles files, UUID drive) {
  private static final Logger LOG = LoggerFactory.getLogger(IndexFloor.class);
  private static final CheckedFile FILE =
      new CheckedFile("index-floor", 0x4153_4846, (short) 1, 20); // ASHF
  private static final int SEQUENCE_AT = 8;

  /** The stored sequence; 0 if there is none or it is damaged, so that any index is accepted. */
  private long read() {
    try {
      ByteBuffer content = FILE.read(files);
      return content == null ? 0 : content.getLong(SEQUENCE_AT);
    } catch (IOException e) {
      LOG.warn(
          "Drive {}: {} is unreadable: an index that has lost writes may be accepted",
          drive,
          FILE.name(),
          e);
      return 0;
    }
  }

  /**
   * Stores that the index is durable up to this batch. A failure is only logged: a full drive has
   * to free segments, and the floor is needed only if the index is damaged later.
   */
  public void raise(long sequence) {
    try {
      write(sequence);
    } catch (IOException e) {
      LOG.warn(
          "Drive {}: {} cannot be written: an index that loses writes may be accepted later: {}",
          drive,
          FILE.name(),
          e.toString());
    }
  }

  private void write(long sequence) throws IOException {
    FILE.write(files, FILE.seal(FILE.content().putShort((short) 0).putLong(sequence)));
  }

  /** Fails if this index ends before the floor. */
  public void check(ShardIndex index) throws IndexException {
    long sequence = index.position().sequence();
    long floor = read();
    if (!index.position().isRebuild() && sequence < floor) {
      throw new IndexException(
          IndexException.Kind.DAMAGED,
          "index: it ends at batch " + sequence + " but was durable up to batch " + floor,
          null);
    }
  }

  /** Forgets the floor of an index that is discarded: the next one may end earlier. */
  public void clear() throws IOException {
    if (FILE.isIn(files)) {
      write(0);
    }
  }
}
