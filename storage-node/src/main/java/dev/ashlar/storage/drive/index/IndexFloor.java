package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The batch up to which the index was durable when segments were last freed. An index that ends
 * before it has lost writes, for example because its manifest was cut off: it may need records of
 * freed segments, so it cannot be replayed and has to be rebuilt. Stored in 20 bytes of a file of
 * their own, overwritten in place:
 *
 * <pre>
 * magic 4 | version 2 | 0 2 | sequence 8 | crc32c 4
 * </pre>
 */
public final class IndexFloor {
  private static final Logger LOG = LoggerFactory.getLogger(IndexFloor.class);
  public static final String FILE = "index-floor";
  private static final int MAGIC = 0x4153_4846; // ASHF
  private static final short VERSION = 1;
  private static final int SEQUENCE_AT = 8;
  private static final int CRC_AT = 16;
  private static final int BYTES = CRC_AT + Integer.BYTES;

  private IndexFloor() {}

  /** The stored sequence; 0 if there is none or it is damaged, so that any index is accepted. */
  static long read(RawFiles files) {
    try {
      if (!files.list().contains(FILE)) {
        return 0;
      }
      ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
      try (RawFile file = files.open(FILE)) {
        if (file.size() < BYTES) {
          return 0;
        }
        file.read(bytes, 0);
      }
      int crc = new Checksum().of(bytes, 0, CRC_AT);
      bytes.clear();
      boolean isIntact =
          bytes.getInt(0) == MAGIC
              && bytes.getShort(Integer.BYTES) == VERSION
              && bytes.getInt(CRC_AT) == crc;
      return isIntact ? bytes.getLong(SEQUENCE_AT) : 0;
    } catch (IOException e) {
      LOG.warn("{} is unreadable: an index that has lost writes may be accepted", FILE, e);
      return 0;
    }
  }

  /**
   * Stores that the index is durable up to this batch. A failure is only logged: a full drive has
   * to free segments, and the floor is needed only if the index is damaged later.
   */
  public static void raise(RawFiles files, long sequence) {
    try {
      write(files, sequence);
    } catch (IOException e) {
      LOG.warn(
          "{} cannot be written: an index that loses writes may be accepted later: {}",
          FILE,
          e.toString());
    }
  }

  private static void write(RawFiles files, long sequence) throws IOException {
    if (!files.list().contains(FILE)) {
      files.create(FILE, SegmentFormat.BLOCK).close();
      files.syncDirectory();
    }
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    bytes.putInt(MAGIC).putShort(VERSION).putShort((short) 0).putLong(sequence);
    int crc = new Checksum().of(bytes, 0, CRC_AT);
    bytes.clear().putInt(CRC_AT, crc);
    try (RawFile file = files.open(FILE)) {
      file.write(List.of(bytes), 0);
      file.sync();
    }
  }

  /** Fails if this index ends before the floor. */
  public static void check(RawFiles files, ShardIndex index) throws IndexException {
    long sequence = index.position().sequence();
    long floor = read(files);
    if (!index.position().isRebuild() && sequence < floor) {
      throw new IndexException(
          IndexException.Kind.DAMAGED,
          "index: it ends at batch " + sequence + " but was durable up to batch " + floor,
          null);
    }
  }

  /** Forgets the floor of an index that is discarded: the next one may end earlier. */
  public static void clear(RawFiles files) throws IOException {
    if (files.list().contains(FILE)) {
      write(files, 0);
    }
  }
}
