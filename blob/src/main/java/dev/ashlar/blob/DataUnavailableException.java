package dev.ashlar.blob;

/** Bytes could not be stored or brought back now. */
public final class DataUnavailableException extends Exception {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Reason {
    /** Fewer drives than the write or the read needs. */
    TOO_FEW_DRIVES,
    /** The same, but a drive lacks what it should have: the shard may have gone to another. */
    MISPLACED,
    /** The drives are full but for their reserve. */
    FULL,
    /** Bounded queues have no room: try later. */
    OVERLOADED,
    /** The blob was removed while it was read: open the object again. */
    GONE,
    /** The object was changed in the same place while this change of it was under way. */
    CONFLICT,
    /** The receiver of the bytes has gone. */
    CANCELLED
  }

  private final Reason reason;

  public DataUnavailableException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
