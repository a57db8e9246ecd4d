package dev.ashlar.protocol.client;

/** Why a drive did not execute a request. */
public enum ShardFault {
  /** The drive holds no such bytes of the shard. */
  MISSING,
  /** The bytes are there but do not match their checksums. */
  CORRUPT,
  /** The drive returned an I/O error. */
  IO_ERROR,
  /**
   * A write or sync failed earlier: the drive serves only reads until it is restarted. Or one
   * hangs: then until the drive has answered for a while.
   */
  READ_ONLY,
  /** Only the reserve for deletes and housekeeping is left. */
  FULL,
  /** The drive's bounded queue has no room. */
  OVERLOADED,
  /** The drive is absent, closed or shutting down. */
  UNAVAILABLE,
  /** The bytes of that revision have been removed or changed since. */
  REVISION_GONE
}
