package dev.ashlar.server.jobs;

import dev.ashlar.protocol.message.LifecycleCounts;
import java.util.Locale;

/** What came of something that was due by a lifecycle rule. */
enum LifecycleAct {
  /** A present version was deleted, or got a delete marker on top. */
  EXPIRED,
  /** A version was deleted that was not the present one. */
  NONCURRENT,
  /** A delete marker was removed because nothing was below it. */
  MARKER,
  /** An incomplete upload was aborted. */
  UPLOAD,
  /** A version was moved to another storage class. */
  MOVED,
  /** The version or upload changed between the judgement and the act. */
  CHANGED,
  /** A lock keeps the version. */
  LOCKED,
  /** A version could not be moved. */
  FAILED;

  /** Whether something was done. */
  boolean isDone() {
    return switch (this) {
      case EXPIRED, NONCURRENT, MARKER, UPLOAD, MOVED -> true;
      case CHANGED, LOCKED, FAILED -> false;
    };
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  void addTo(LifecycleCounts.Builder counts, long number) {
    switch (this) {
      case EXPIRED -> counts.setExpired(counts.getExpired() + number);
      case NONCURRENT -> counts.setNoncurrent(counts.getNoncurrent() + number);
      case MARKER -> counts.setMarkers(counts.getMarkers() + number);
      case UPLOAD -> counts.setUploads(counts.getUploads() + number);
      case MOVED -> counts.setMoved(counts.getMoved() + number);
      case CHANGED -> counts.setChanged(counts.getChanged() + number);
      case LOCKED -> counts.setLocked(counts.getLocked() + number);
      case FAILED -> counts.setFailed(counts.getFailed() + number);
    }
  }
}
