package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.read.DriveReadQueue;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Periodically checks a drive, logs each change of its state once, and refuses requests that wait
 * behind a hanging I/O.
 */
final class DriveHealthCheck {
  private static final Logger LOG = LoggerFactory.getLogger(DriveHealthCheck.class);

  private final DriveConfig.Limits limits;
  private final String name;
  private final SegmentFiles segments;
  private final CommitQueue writes;
  private final DriveReadQueue reads;
  private final HangDetector hangs;
  private boolean wasHanging;
  private boolean hadFailed;
  private boolean wasFull;

  /**
   * @param name of the drive, with its directory
   */
  DriveHealthCheck(
      DriveConfig.Limits limits,
      String name,
      SegmentFiles segments,
      CommitQueue writes,
      DriveReadQueue reads,
      HangDetector hangs) {
    this.limits = limits;
    this.name = name;
    this.segments = segments;
    this.writes = writes;
    this.reads = reads;
    this.hangs = hangs;
    warnIfTooSmall();
  }

  private void warnIfTooSmall() {
    long capacity = segments.newDataCapacityBytes();
    long needed = limits.capacityBytesMin();
    if (capacity < needed) {
      LOG.warn(
          "Drive {} is too small for any data: it has space for {} bytes but needs {}."
              + " Use a larger file system; drives that share a file system each need space in it",
          name,
          Math.max(0, capacity),
          needed);
    }
  }

  synchronized void check() {
    checkRoom();
    checkFailure();
    checkHang();
  }

  private void checkRoom() {
    boolean isFull = segments.isFull();
    if (isFull && !wasFull) {
      LOG.warn("Drive {} is full: it refuses new data until deletes have freed space", name);
    } else if (wasFull && !isFull) {
      LOG.info("Drive {} has free space again", name);
    }
    wasFull = isFull;
  }

  private void checkFailure() {
    hangs.update(Math.max(reads.oldestNanos(), writes.commitNanos()));
    boolean hasFailed = hangs.hasFailed();
    if (hasFailed) {
      reads.abandonHanging();
    } else {
      reads.resume();
    }
    if (hasFailed && !hadFailed) {
      LOG.error(
          "Drive {} has failed: a read or write has hung for {} s",
          name,
          limits.hangTimeout().toSeconds());
    } else if (hadFailed && !hasFailed) {
      LOG.warn("Drive {} has recovered from its failure", name);
    }
    hadFailed = hasFailed;
  }

  private void checkHang() {
    boolean writesHang = writes.isStalled();
    boolean readsHang = reads.isStalled();
    if (writesHang) {
      writes.refuseWaiting();
    }
    if (readsHang) {
      reads.refuseWaiting();
    }
    boolean isHanging = writesHang || readsHang;
    if (isHanging && !wasHanging) {
      LOG.error(
          "Drive {} hangs: {} made no progress for {} s; it refuses requests until"
              + " they return",
          name,
          writesHang ? "writes" : "reads",
          limits.stallTimeout().toSeconds());
    } else if (wasHanging && !isHanging) {
      LOG.warn("Drive {} responds again", name);
    }
    wasHanging = isHanging;
  }
}
