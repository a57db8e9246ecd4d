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
  private final HangDetector bound;
  private boolean wasHanging;
  private boolean hadFailed;
  private boolean wasFull;

  DriveHealthCheck(
      DriveConfig config,
      DriveId drive,
      SegmentFiles segments,
      CommitQueue writes,
      DriveReadQueue reads,
      HangDetector bound) {
    this.config = config;
    this.drive = drive;
    this.segments = segments;
    this.writes = writes;
    this.reads = reads;
    this.bound = bound;
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

  synchronized void look() {
    lookForRoom();
    lookForFailure();
    lookForHang();
  }

  private void lookForRoom() {
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

  private void lookForFailure() {
    bound.look(Math.max(reads.oldestNanos(), writes.commitNanos()));
    boolean hasFailed = bound.hasFailed();
    if (hasFailed) {
      reads.giveUpHanging();
    } else {
      reads.tryAgain();
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

  private void lookForHang() {
    boolean writesHang = writes.isStalled();
    boolean readsHang = reads.isStalled();
    if (writesHang) {
      writes.dropWaiting();
    }
    if (readsHang) {
      reads.dropWaiting();
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
