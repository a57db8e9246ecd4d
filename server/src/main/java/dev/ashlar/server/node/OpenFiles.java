package dev.ashlar.server.node;

import dev.ashlar.storage.drive.DriveResources.Budget;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many files this process may open, and who may have how many.
 *
 * @param max files, sockets included
 */
record OpenFiles(long max) {
  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  /** Open at a time, of one drive; a drive keeps two descriptors for each. */
  private static final int SEGMENTS_MAX = 1024;

  private static final int SEGMENTS_MIN = 16;
  private static final int DESCRIPTORS_PER_SEGMENT = 2;
  private static final int TABLES_MAX = 256;
  private static final int TABLES_MIN = 32;

  /** Of those that may be open, at most for the segments of all drives, and for their indexes. */
  private static final int SHARE = 4;

  /** Beside segments and tables: being read, written, compacted, and RocksDB's own. */
  private static final int OF_DRIVE = 64;

  /** The program, metadata, and some connections. */
  private static final int OF_PROCESS = 400;

  /** Fewer are worth a word: what is left for connections is not much. */
  private static final int ENOUGH = 8192;

  /**
   * What each of so many drives may have open.
   *
   * @throws IOException if that is too little to work with
   */
  Budget share(int drives) throws IOException {
    long least = least(drives);
    if (max < least) {
      throw new IOException(
          "this process may open %s files, but with %s drives it needs at least %s: "
                  .formatted(max, drives, least)
              + "raise the hard limit (ulimit -Hn, or LimitNOFILE of systemd), best to "
              + Math.max(ENOUGH, 2 * least));
    }
    return Budget.DEFAULT.withOpenFiles(segments(drives), tables(drives));
  }

  /** Tells the log of a process that has started what each of its drives may have open. */
  void report(int drives) {
    LOG.info(
        "Open file limit {} (ulimit -n): up to {} segments and {} tables per drive.",
        max,
        segments(drives),
        tables(drives));
    if (max < ENOUGH) {
      LOG.warn(
          "The open file limit {} is low: requests may fail with many connections. Raise the hard"
              + " limit (ulimit -Hn, or LimitNOFILE of systemd) to {} or more.",
          max,
          ENOUGH);
    }
  }

  private static long least(int drives) {
    int ofDrive = SEGMENTS_MIN * DESCRIPTORS_PER_SEGMENT + TABLES_MIN + OF_DRIVE;
    return OF_PROCESS + (long) drives * ofDrive;
  }

  private int segments(int drives) {
    return Math.clamp(share(drives, DESCRIPTORS_PER_SEGMENT), SEGMENTS_MIN, SEGMENTS_MAX);
  }

  private int tables(int drives) {
    return Math.clamp(share(drives, 1), TABLES_MIN, TABLES_MAX);
  }

  /** How many segments, or tables, of one drive: there is to be enough left for everything else. */
  private long share(int drives, int descriptorsOfEach) {
    long left = max - OF_PROCESS - (long) drives * OF_DRIVE;
    return Math.min(max / SHARE, left / 2) / descriptorsOfEach / Math.max(1, drives);
  }
}
