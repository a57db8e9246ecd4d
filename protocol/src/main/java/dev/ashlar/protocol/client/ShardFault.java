package dev.ashlar.protocol.client;

/** Why a drive did not do what it was asked. */
public enum ShardFault {
  /** The drive holds no such bytes of the shard. */
  MISSING,
  /** The bytes are there but do not match their checksums. */
  CORRUPT,
  /** The drive returned an I/O error. */
  IO_ERROR,
  /**
   * A write or sync failed earlier: the drive serves reads only until it is restarted. Or one has
   * not come back for long: until the drive has answered for a while.
   */
  READ_ONLY,
  /** What is left is the reserve for deletes and housekeeping. */
  FULL,
  /** The drive's bounded queue has no room. */
  OVERLOADED,
  /** The drive is absent, closed or shutting down. */
  UNAVAILABLE,
  /** The bytes of that state were there once and have been removed or changed since. */
  REVISION_GONE
}
