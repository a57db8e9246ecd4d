package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
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

  private final DriveConfig config;
  private final DriveId drive;
  private final SegmentFiles segments;
  private final CommitQueue writes;
  private final DriveReadQueue reads;
  private final HangDetector hangs;
  private boolean wasHanging;
  private boolean hadFailed;
  private boolean wasFull;

  DriveHealthCheck(
      DriveConfig config,
      DriveId drive,
      SegmentFiles segments,
      CommitQueue writes,
      DriveReadQueue reads,
      HangDetector hangs) {
    this.config = config;
    this.drive = drive;
    this.segments = segments;
    this.writes = writes;
    this.reads = reads;
    this.hangs = hangs;
    warnIfTooSmall();
  }

  private void warnIfTooSmall() {
    long capacity = segments.newDataCapacityBytes();
    long needed = config.limits().capacityBytesMin();
    if (capacity < needed) {
      LOG.warn(
          "Drive {} ({}) is too small for any data: it has space for {} bytes but needs {}."
              + " Use a larger file system; drives that share a file system each need space in it",
          drive,
          config.folder(),
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
      LOG.warn(
          "Drive {} ({}) is full: it refuses new data until deletes have freed space",
          drive,
          config.folder());
    } else if (wasFull && !isFull) {
      LOG.info("Drive {} ({}) has free space again", drive, config.folder());
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
          "Drive {} ({}) has failed: a read or write has hung for {} s",
          drive,
          config.folder(),
          config.limits().hangTimeout().toSeconds());
    } else if (hadFailed && !hasFailed) {
      LOG.warn("Drive {} ({}) has recovered from its failure", drive, config.folder());
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
          "Drive {} ({}) hangs: {} made no progress for {} s; it refuses requests until"
              + " they return",
          drive,
          config.folder(),
          writesHang ? "writes" : "reads",
          config.limits().stallTimeout().toSeconds());
    } else if (wasHanging && !isHanging) {
      LOG.warn("Drive {} ({}) responds again", drive, config.folder());
    }
    wasHanging = isHanging;
  }
}
