package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.read.DriveReadQueue;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at a drive now and then: tells once of each change, lets nobody wait behind what hangs. */
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
          "drive {} ({}) is too small for any data: it has room for {} bytes, {} are needed. Give"
              + " it a larger file system; drives that share one each need room in it",
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
          "drive {} ({}) is full: it takes no new data until deletes have freed space",
          drive,
          config.folder());
    } else if (wasFull && !isFull) {
      LOG.info("drive {} ({}) has room again", drive, config.folder());
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
          "drive {} ({}) counts as failed: a read or write has not come back for {} s",
          drive,
          config.folder(),
          config.limits().hangTimeout().toSeconds());
    } else if (hadFailed && !hasFailed) {
      LOG.warn("drive {} ({}) counts as well again", drive, config.folder());
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
          "drive {} ({}) hangs: {} made no progress for {} s; it is left out until they come back",
          drive,
          config.folder(),
          writesHang ? "writes" : "reads",
          config.limits().stallTimeout().toSeconds());
    } else if (wasHanging && !isHanging) {
      LOG.warn("drive {} ({}) answers again", drive, config.folder());
    }
    wasHanging = isHanging;
  }
}
