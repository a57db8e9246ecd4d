package dev.ashlar.metadata.backup;

import dev.ashlar.metadata.table.TableScan;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes of a backup, made as they are read. A failure in between leaves a file without an end,
 * which no restore accepts. Used by one thread at a time.
 */
final class BackupStream extends InputStream {
  private final TableScan rows;
  private final Closeable afterwards;
  private final CRC32C all = new CRC32C();
  private byte[] bytes;
  private int position;
  private int block = 1;
  private long count;
  private boolean isEnded;
  private boolean isClosed;

  /**
   * @param afterwards closed with this stream
   */
  BackupStream(BackupHeader header, TableScan rows, Closeable afterwards) {
    this.rows = rows;
    this.afterwards = afterwards;
    byte[] text = header.toBytes();
    byte[] first = BackupFormat.block(0, text, text.length);
    bytes =
        ByteBuffer.allocate(BackupFormat.MAGIC.length + first.length)
            .put(BackupFormat.MAGIC)
            .put(first)
            .array();
    all.update(bytes);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (position == bytes.length && !fill()) {
      return -1;
    }
    int taken = Math.min(length, bytes.length - position);
    System.arraycopy(bytes, position, target, offset, taken);
    position += taken;
    return taken;
  }

  /** Makes the next block; false after the last one. */
  private boolean fill() throws IOException {
    if (isClosed) {
      throw new IOException("the backup was closed");
    }
    if (isEnded) {
      return false;
    }
    bytes = rows.isValid() ? rowBlock() : end();
    position = 0;
    all.update(bytes);
    return true;
  }

  private byte[] rowBlock() {
    ByteArrayOutputStream content = new ByteArrayOutputStream(2 * BackupFormat.ROWS_BYTES);
    ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
    while (rows.isValid() && content.size() < BackupFormat.ROWS_BYTES) {
      for (byte[] part : new byte[][] {rows.key(), rows.value()}) {
        content.writeBytes(length.putInt(0, part.length).array());
        content.writeBytes(part);
      }
      count++;
      rows.next();
    }
    return BackupFormat.block(block++, content.toByteArray(), content.size());
  }

  private byte[] end() {
    isEnded = true;
    byte[] content =
        ByteBuffer.allocate(BackupFormat.END_BYTES)
            .putLong(count)
            .putInt((int) all.getValue())
            .array();
    return BackupFormat.block(block | BackupFormat.LAST, content, content.length);
  }

  @Override
  public void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      afterwards.close();
    }
  }
}
