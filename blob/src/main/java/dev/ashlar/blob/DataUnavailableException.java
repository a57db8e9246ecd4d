package dev.ashlar.blob;

import dev.ashlar.protocol.client.UnavailableException;

/** Bytes cannot be stored or read now. */
public final class DataUnavailableException extends UnavailableException {
  private static final long serialVersionUID = 1;

  public enum Reason {
    /** Fewer drives are available than the write or read needs. */
    TOO_FEW_DRIVES,
    /** The same, but a drive lacks its shard, which may have moved to another drive. */
    MISPLACED,
    /** The drives are full, except for their reserve. */
    FULL,
    /** Bounded queues are full: retry later. */
    OVERLOADED,
    /** The blob was changed or removed while it was read: open the object again. */
    GONE,
    /** Another change of the same place was committed first. */
    CONFLICT,
    /** The receiver of the bytes is gone. */
    CANCELLED,
    /** The bytes are not those that were written. */
    DAMAGED
  }

  private final Reason reason;

  public DataUnavailableException(Reason reason, String message) {
    super(message, null);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
