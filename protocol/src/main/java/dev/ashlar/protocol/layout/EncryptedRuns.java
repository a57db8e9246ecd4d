package dev.ashlar.protocol.layout;

import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.List;

/** The runs of encrypted objects, and how many bytes the blobs of an object hold. */
public final class EncryptedRuns {
  /** Bytes of the id of a run. */
  public static final int ID_BYTES = 16;

  /** A longer run is refused, so that sums of the runs of an object do not overflow. */
  private static final long SIZE_MAX = 1L << 47;

  private EncryptedRuns() {}

  public static boolean isEncrypted(ObjectRecord object) {
    return object.getFacts().getRunsCount() > 0;
  }

  /** The bytes that the slices of an object cover: more than its size if it is encrypted. */
  public static long storedSize(ObjectRecord object) {
    return isEncrypted(object)
        ? storedSize(object.getFacts().getRunsList())
        : object.getSummary().getSize();
  }

  /** The stored bytes of all runs of an object. */
  public static long storedSize(List<EncryptedRun> runs) {
    long size = 0;
    for (EncryptedRun run : runs) {
      size += FrameLayout.storedSize(run.getSize());
    }
    return size;
  }

  /** The plain bytes of all runs of an object. */
  public static long plainSize(List<EncryptedRun> runs) {
    long size = 0;
    for (EncryptedRun run : runs) {
      size += run.getSize();
    }
    return size;
  }

  /** Whether a run has a complete id and a possible size. */
  public static boolean isWellFormed(EncryptedRun run) {
    return run.getId().size() == ID_BYTES && run.getSize() >= 0 && run.getSize() <= SIZE_MAX;
  }
}
