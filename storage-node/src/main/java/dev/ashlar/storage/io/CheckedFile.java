package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A small file of a drive, overwritten in place. It begins with a magic number of 4 bytes and a
 * version of 2, and ends with the CRC32C of all bytes before.
 *
 * @param bytes size of the content with its checksum, at most 4 KiB
 */
public record CheckedFile(String name, int magic, short version, int bytes) {
  private static final int FILE_BYTES = 4096;
  private static final int VERSION_AT = Integer.BYTES;

  /** New content, to be put behind the version. */
  public ByteBuffer content() {
    return ByteBuffer.allocateDirect(bytes).putInt(magic).putShort(version);
  }

  /** Completes the content with its checksum. */
  public ByteBuffer seal(ByteBuffer content) {
    return content.clear().putInt(crcAt(), crc(content));
  }

  /** Whether this is content of this kind and version without damage. */
  public boolean isIntact(ByteBuffer content) {
    return content.getInt(0) == magic
        && content.getShort(VERSION_AT) == version
        && content.getInt(crcAt()) == crc(content);
  }

  private int crcAt() {
    return bytes - Integer.BYTES;
  }

  private int crc(ByteBuffer content) {
    CRC32C crc = new CRC32C();
    crc.update(content.slice(0, crcAt()));
    return (int) crc.getValue();
  }

  public boolean isIn(RawFiles files) throws IOException {
    return files.list().contains(name);
  }

  /** The stored content; null if there is none or it is damaged. */
  public @Nullable ByteBuffer read(RawFiles files) throws IOException {
    if (!isIn(files)) {
      return null;
    }
    ByteBuffer content = ByteBuffer.allocateDirect(bytes);
    try (RawFile file = files.open(name)) {
      if (file.size() < bytes) {
        return null;
      }
      file.read(content, 0);
    }
    return isIntact(content.clear()) ? content : null;
  }

  /** Durably replaces the stored content. */
  public void write(RawFiles files, ByteBuffer sealed) throws IOException {
    if (!isIn(files)) {
      files.create(name, FILE_BYTES).close();
      files.syncDirectory();
    }
    try (RawFile file = files.open(name)) {
      file.write(List.of(sealed), 0);
      file.sync();
    }
  }
}
