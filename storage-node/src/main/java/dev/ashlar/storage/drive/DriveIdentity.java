package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Who a drive is: 64 bytes in a file of its own.
 *
 * <pre>
 * magic 4 | version 2 | 0 2 | cluster 16 | drive 16 | incarnation 8 | 0 12 | crc32c 4
 * </pre>
 */
record DriveIdentity(UUID cluster, DriveId drive) {
  static final String FILE = "drive-identity";
  private static final String NEW_FILE = FILE + ".new";
  private static final int MAGIC = 0x41534844;
  private static final short VERSION = 1;
  private static final int BYTES = 64;
  private static final int CRC_AT = BYTES - Integer.BYTES;

  static DriveIdentity read(RawFiles files) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    try (RawFile file = files.open(FILE)) {
      file.read(bytes, 0);
    }
    return decode(bytes);
  }

  /** Replaces the identity durably, or leaves the old one. */
  void write(RawFiles files) throws IOException {
    if (files.list().contains(NEW_FILE)) {
      files.delete(NEW_FILE);
    }
    try (RawFile file = files.create(NEW_FILE, 0)) {
      file.write(List.of(encode()), 0);
      file.sync();
    }
    files.rename(NEW_FILE, FILE);
    files.syncDirectory();
  }

  /** The same drive in a new life. Time keeps it above every life before, known or forgotten. */
  DriveIdentity nextIncarnation(long epochSecond) {
    long next = Math.max(drive.incarnation() + 1, epochSecond);
    return new DriveIdentity(cluster, new DriveId(drive.id(), next));
  }

  ByteBuffer encode() {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    bytes.putInt(MAGIC).putShort(VERSION).putShort((short) 0);
    bytes.putLong(cluster.getMostSignificantBits()).putLong(cluster.getLeastSignificantBits());
    bytes.putLong(drive.id().getMostSignificantBits());
    bytes.putLong(drive.id().getLeastSignificantBits()).putLong(drive.incarnation());
    int crc = new Checksum().of(bytes, 0, CRC_AT);
    return bytes.clear().putInt(CRC_AT, crc);
  }

  static DriveIdentity decode(ByteBuffer bytes) throws IOException {
    int crc = new Checksum().of(bytes, 0, CRC_AT);
    bytes.clear();
    if (bytes.getInt(0) != MAGIC) {
      throw new IOException(FILE + " is not the identity of an Ashlar drive");
    }
    if (bytes.getShort(4) != VERSION) {
      throw new IOException(
          FILE + " has format version " + bytes.getShort(4) + "; this program reads " + VERSION);
    }
    if (crc != bytes.getInt(CRC_AT)) {
      throw new IOException(FILE + " is damaged: its checksum does not match");
    }
    return new DriveIdentity(
        new UUID(bytes.getLong(8), bytes.getLong(16)),
        new DriveId(new UUID(bytes.getLong(24), bytes.getLong(32)), bytes.getLong(40)));
  }
}
