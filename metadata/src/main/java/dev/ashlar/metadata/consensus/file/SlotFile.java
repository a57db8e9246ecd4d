package dev.ashlar.metadata.consensus.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A small value that is overwritten in place, alternating between two slots: after a torn write or
 * damage of one slot the previous value remains. Layout: docs/reference/formats-metadata.md.
 */
public final class SlotFile {
  static final int CONTENT_BYTES_MAX = 256;
  private static final int SLOT_BYTES = 512;
  private static final int MAGIC_BYTES = 8;
  private static final int HEAD_BYTES = MAGIC_BYTES + Long.BYTES + Integer.BYTES;

  private final Path path;
  private final byte[] magic;
  private long sequence;

  /** The content of a slot. */
  private record Slot(long sequence, byte[] content) {}

  /**
   * @param magic the eight characters at the beginning of each slot: type and version
   */
  public SlotFile(Path path, String magic) {
    this.path = path;
    this.magic = magic.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * The value written last; empty: none was ever written.
   *
   * @throws IOException when the file cannot be read, or both slots are damaged
   */
  public Optional<byte[]> read() throws IOException {
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    byte[] bytes = Files.readAllBytes(path);
    Optional<Slot> newest = Optional.empty();
    for (int begin = 0; begin + SLOT_BYTES <= bytes.length; begin += SLOT_BYTES) {
      Optional<Slot> slot = slot(ByteBuffer.wrap(bytes, begin, SLOT_BYTES).slice());
      if (slot.isPresent()
          && (newest.isEmpty() || newest.get().sequence() < slot.get().sequence())) {
        newest = slot;
      }
    }
    if (newest.isEmpty()) {
      throw new IOException(path + " is damaged");
    }
    sequence = newest.get().sequence();
    return newest.map(Slot::content);
  }

  private Optional<Slot> slot(ByteBuffer slot) {
    byte[] begins = new byte[MAGIC_BYTES];
    slot.get(begins);
    long number = slot.getLong();
    int length = slot.getInt();
    if (!Arrays.equals(begins, magic) || length < 0 || length > CONTENT_BYTES_MAX) {
      return Optional.empty();
    }
    byte[] content = new byte[length];
    slot.get(content);
    return slot.getInt() == checksum(slot.array(), slot.arrayOffset(), HEAD_BYTES + length)
        ? Optional.of(new Slot(number, content))
        : Optional.empty();
  }

  /** Durable when it returns. */
  public void write(byte[] content) throws IOException {
    ByteBuffer slot = ByteBuffer.allocate(SLOT_BYTES);
    slot.put(magic).putLong(sequence + 1).putInt(content.length).put(content);
    slot.putInt(checksum(slot.array(), 0, slot.position()));
    slot.clear();
    boolean isNew = !Files.exists(path);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      long position = (sequence + 1) % 2 * SLOT_BYTES;
      while (slot.hasRemaining()) {
        position += channel.write(slot, position);
      }
      channel.force(isNew || channel.size() < 2 * SLOT_BYTES);
    }
    if (isNew) {
      DurableFiles.syncDirectoryOf(path);
    }
    sequence++;
  }

  private static int checksum(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
