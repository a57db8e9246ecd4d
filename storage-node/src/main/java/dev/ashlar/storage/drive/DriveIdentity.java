package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of a drive: 64 bytes, stored in two blocks of 4 KiB in a file of its own.
 *
 * <pre>
 * magic 4 | version 2 | flags 2 | cluster 16 | drive 16 | incarnation 8 | 0 12 | crc32c 4
 * </pre>
 *
 * <p>The file is created with its final size and then overwritten in place, one block after the
 * other. Hence a drive on a full file system can begin a new incarnation, and an interrupted write
 * leaves the other block intact.
 *
 * @param changesLost whether the drive may hold shards of which the log has lost changes
 */
record DriveIdentity(UUID cluster, DriveId drive, boolean changesLost) {
  private static final Logger LOG = LoggerFactory.getLogger(DriveIdentity.class);
  static final String FILE = "drive-identity";
  private static final String NEW_FILE = FILE + ".new";

  /** Version 1: exists while changes may be lost. */
  private static final String CHANGES_LOST_FILE = "changes-lost";

  private static final int MAGIC = 0x41534844;

  /** Also raised when older programs cannot read the segments, so that they refuse the drive. */
  private static final short VERSION = 4;

  private static final int CHANGES_LOST = 1;
  private static final int BYTES = 64;
  private static final int VERSION_AT = 4;
  private static final int CRC_AT = BYTES - Integer.BYTES;
  private static final int PLACES = 2;
  private static final int PLACE_BYTES = SegmentFormat.BLOCK;

  /**
   * Reads the identity of a drive and makes it durable, even if the process that wrote it was
   * killed: an announced incarnation must never be used again.
   */
  static DriveIdentity read(RawFiles files) throws IOException {
    files.syncDirectory();
    try (RawFile file = files.open(FILE)) {
      if (file.size() < (long) PLACES * PLACE_BYTES) {
        return upgrade(files, file);
      }
      file.sync();
      List<DriveIdentity> found = new ArrayList<>();
      BitSet whole = new BitSet();
      IOException failure = null;
      for (int place = 0; place < PLACES; place++) {
        try {
          found.add(decode(bytes(file, place)));
          whole.set(place);
        } catch (IOException e) {
          failure = e;
        }
      }
      DriveIdentity newest = newest(found);
      if (newest == null) {
        throw failure == null ? new IOException(FILE + " is empty") : failure;
      }
      if (whole.cardinality() < PLACES) {
        newest.mend(file, whole.nextClearBit(0));
      } else if (!found.stream().allMatch(newest::equals)) {
        newest.mend(file, PLACES - 1 - found.indexOf(newest));
      }
      return newest;
    }
  }

  /**
   * Writes the block that differs. Only if that fails, the other one is written again: after a
   * failed sync it may exist in memory only.
   */
  private void mend(RawFile file, int place) throws IOException {
    try {
      write(file, place);
    } catch (IOException e) {
      warnOf(place, e);
      write(file, PLACES - 1 - place);
    }
  }

  private static void warnOf(int place, IOException e) {
    LOG.warn(
        "Block {} of {} cannot be written; the drive has only one copy of its identity: {}",
        place,
        FILE,
        e.toString());
  }

  /** Like {@link #read}, for a drive that will be written; older programs refuse it afterwards. */
  static DriveIdentity readToWrite(RawFiles files) throws IOException {
    DriveIdentity found = read(files);
    try (RawFile file = files.open(FILE)) {
      boolean isOlder = false;
      for (int place = 0; place < PLACES; place++) {
        isOlder |= isOlder(file, place);
      }
      if (isOlder) {
        found.overwrite(file);
      }
    }
    return found;
  }

  private static boolean isOlder(RawFile file, int place) {
    try {
      return bytes(file, place).getShort(VERSION_AT) != VERSION;
    } catch (IOException e) {
      return false; // it is unreadable for older programs too
    }
  }

  /** The later one of two incarnations. A loss is recorded before it is resolved. */
  private static @Nullable DriveIdentity newest(List<DriveIdentity> found) {
    DriveIdentity newest = null;
    for (DriveIdentity each : found) {
      long incarnation = each.drive.incarnation();
      if (newest == null
          || incarnation > newest.drive.incarnation()
          || (incarnation == newest.drive.incarnation() && each.changesLost)) {
        newest = each;
      }
    }
    return newest;
  }

  private static ByteBuffer bytes(RawFile file, int place) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    file.read(bytes, (long) place * PLACE_BYTES);
    return bytes;
  }

  /** Version 1 had one block, and a separate file for the flag. */
  private static DriveIdentity upgrade(RawFiles files, RawFile file) throws IOException {
    DriveIdentity found = decode(bytes(file, 0));
    boolean wasLost = files.list().contains(CHANGES_LOST_FILE);
    DriveIdentity same = new DriveIdentity(found.cluster, found.drive, wasLost);
    same.create(files);
    if (wasLost) {
      files.delete(CHANGES_LOST_FILE);
      files.syncDirectory();
    }
    return same;
  }

  /** Creates the file durably with its final size. */
  void create(RawFiles files) throws IOException {
    if (files.list().contains(NEW_FILE)) {
      files.delete(NEW_FILE);
    }
    try (RawFile file = files.create(NEW_FILE, (long) PLACES * PLACE_BYTES)) {
      overwrite(file);
    }
    files.rename(NEW_FILE, FILE);
    files.syncDirectory();
  }

  /** Replaces the stored identity durably, or leaves the old one. */
  void write(RawFiles files) throws IOException {
    try (RawFile file = files.open(FILE)) {
      overwrite(file);
    }
  }

  /** Writes both blocks, except one that can neither be read nor written. */
  private void overwrite(RawFile file) throws IOException {
    int written = 0;
    for (int place = 0; place < PLACES; place++) {
      boolean wasReadable = isReadable(file, place);
      try {
        write(file, place);
        written++;
      } catch (IOException e) {
        if (wasReadable || (written == 0 && place == PLACES - 1)) {
          throw e;
        }
        warnOf(place, e);
      }
    }
  }

  private static boolean isReadable(RawFile file, int place) {
    try {
      bytes(file, place);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void write(RawFile file, int place) throws IOException {
    file.write(List.of(encode()), (long) place * PLACE_BYTES);
    file.sync();
  }

  /**
   * The same drive in a new incarnation. The clock keeps it later than all former ones, known or
   * forgotten.
   */
  DriveIdentity nextIncarnation(long epochSecond) {
    long next = Math.max(drive.incarnation() + 1, epochSecond);
    return new DriveIdentity(cluster, new DriveId(drive.id(), next), changesLost);
  }

  DriveIdentity withChangesLost(boolean areLost) {
    return new DriveIdentity(cluster, drive, areLost);
  }

  ByteBuffer encode() {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    bytes.putInt(MAGIC).putShort(VERSION).putShort((short) (changesLost ? CHANGES_LOST : 0));
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
    short version = bytes.getShort(VERSION_AT);
    if (version < 1 || version > VERSION) {
      throw new IOException(
          FILE + " has format version " + version + "; this program reads up to " + VERSION);
    }
    if (crc != bytes.getInt(CRC_AT)) {
      throw new IOException(FILE + " is damaged: its checksum does not match");
    }
    return new DriveIdentity(
        new UUID(bytes.getLong(8), bytes.getLong(16)),
        new DriveId(new UUID(bytes.getLong(24), bytes.getLong(32)), bytes.getLong(40)),
        (bytes.getShort(6) & CHANGES_LOST) != 0);
  }
}
