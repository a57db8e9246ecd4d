package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.consensus.file.DamagedFileException;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** Reads a backup and verifies all of it. */
public final class BackupReader {
  private static final byte[] NO_KEY = {};

  private final DataInputStream in;
  private final CRC32C all = new CRC32C();
  private final BackupHeader header;
  private int block;
  private long count;
  private byte[] lastKey = NO_KEY;

  /** Receives the rows of a backup, in the order of their keys. */
  @FunctionalInterface
  public interface Rows {
    void row(byte[] key, byte[] value) throws IOException;
  }

  /** The content of a block, and whether it is the last one. */
  private record Block(byte[] content, boolean isLast) {}

  /**
   * @param in at the beginning of the backup; closed by the caller
   * @throws IOException when its beginning is damaged
   */
  public BackupReader(InputStream in) throws IOException {
    this.in = new DataInputStream(in);
    byte[] magic = new byte[BackupFormat.MAGIC.length];
    readFully(magic);
    if (!Arrays.equals(magic, BackupFormat.MAGIC)) {
      throw new DamagedFileException("it is not a backup of metadata that this build can read");
    }
    all.update(magic);
    Block first = next();
    if (first.isLast()) {
      throw new DamagedFileException("it has no header");
    }
    header = BackupHeader.parse(first.content());
  }

  public BackupHeader header() {
    return header;
  }

  /**
   * Reads all rows. Only if this returns, all of them are what was written.
   *
   * @throws IOException when the backup is damaged or cut off
   */
  public long forEach(Rows visitor) throws IOException {
    while (true) {
      int before = (int) all.getValue();
      Block next = next();
      if (next.isLast()) {
        checkEnd(next.content(), before);
        return count;
      }
      visit(next.content(), visitor);
    }
  }

  private void visit(byte[] content, Rows visitor) throws IOException {
    ByteBuffer rows = ByteBuffer.wrap(content);
    while (rows.hasRemaining()) {
      byte[] key = part(rows);
      byte[] value = part(rows);
      if (Arrays.compareUnsigned(lastKey, key) >= 0) {
        throw new DamagedFileException("its rows are not in order");
      }
      lastKey = key;
      count++;
      visitor.row(key, value);
    }
  }

  private static byte[] part(ByteBuffer rows) throws DamagedFileException {
    try {
      int length = rows.getInt();
      if (length >= 0 && length <= rows.remaining()) {
        byte[] part = new byte[length];
        rows.get(part);
        return part;
      }
    } catch (BufferUnderflowException e) {
      // as for a wrong length
    }
    throw new DamagedFileException("a row of it is cut off");
  }

  private void checkEnd(byte[] content, int crc) throws IOException {
    ByteBuffer end = ByteBuffer.wrap(content);
    boolean isWhole =
        content.length == BackupFormat.END_BYTES && end.getLong() == count && end.getInt() == crc;
    if (!isWhole) {
      throw new DamagedFileException("its end does not fit the rest");
    }
    if (in.read() >= 0) {
      throw new DamagedFileException("bytes follow its end");
    }
  }

  private Block next() throws IOException {
    byte[] head = new byte[BackupFormat.BLOCK_HEADER_BYTES];
    readFully(head);
    ByteBuffer numbers = ByteBuffer.wrap(head);
    int number = numbers.getInt();
    int length = numbers.getInt();
    boolean isLast = number < 0;
    if ((number & ~BackupFormat.LAST) != block
        || length < 0
        || length > BackupFormat.CONTENT_BYTES_MAX) {
      throw damaged();
    }
    byte[] content = new byte[length];
    readFully(content);
    byte[] crc = new byte[BackupFormat.CRC_BYTES];
    readFully(crc);
    byte[] made = BackupFormat.block(number, content, length);
    if (!Arrays.equals(made, made.length - crc.length, made.length, crc, 0, crc.length)) {
      throw damaged();
    }
    all.update(made);
    block++;
    return new Block(content, isLast);
  }

  private DamagedFileException damaged() {
    return new DamagedFileException("block " + block + " of it is damaged");
  }

  private void readFully(byte[] target) throws IOException {
    try {
      in.readFully(target);
    } catch (EOFException e) {
      throw new DamagedFileException("it is cut off");
    }
  }
}
