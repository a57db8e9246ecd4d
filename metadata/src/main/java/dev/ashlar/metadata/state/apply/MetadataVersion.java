package dev.ashlar.metadata.state.apply;

/**
 * The metadata version: the rules for rows and for what commands do to them. One version is in use
 * in a Raft group. It is stored in the tables and only ever increases, with the first log entry of
 * a later version. A peer applies every entry by the rules of the version in use, and stops before
 * an entry of a version that it does not support. So peers of different builds create the same
 * rows, as long as each build follows these rules:
 *
 * <ul>
 *   <li>Every change that leads to other rows or answers (a new command or field, another rule,
 *       another row) is a new version, one more than {@link #KNOWN}.
 *   <li>While an older version is in use, apply behaves as an older build does: it refuses a new
 *       command as INVALID_COMMAND and ignores a new field.
 *   <li>A command at which apply fails is refused and changes nothing. Fixing such a fault leads to
 *       other rows for the same entry, so it is a new version as well.
 *   <li>Rows that have to be rewritten are rewritten in the first entry of the new version.
 * </ul>
 */
public final class MetadataVersion {
  /** In use in a new Raft group, until all its peers support a later one. */
  public static final int FIRST = 2;

  /** The latest version that this build supports. */
  public static final int KNOWN = 9;

  /**
   * From this version on, a command at which apply fails is refused. Before, it stopped the peer at
   * every start: no peer got past such an entry, so none created other rows for it.
   */
  public static final int REFUSES_FAULTS = 3;

  /** From this version on, rows record which slots missed unfolded changes. */
  public static final int KNOWS_MISSED_SLOTS = 3;

  /**
   * From this version on, drives of a store in one process begin new incarnations only if their
   * data can be rebuilt.
   */
  public static final int ASKS_FOR_LOCAL_DRIVES = 3;

  /** From this version on, replaced drives can be recalled. */
  public static final int RECALLS_DRIVES = 3;

  /**
   * From this version on, all drives without which a node starts are absent, even if those are all
   * it has.
   */
  public static final int MISSES_ALL_DRIVES = 3;

  /**
   * From this version on, buckets can have versioning, locks, documents and quotas, and versions
   * can have tags, ACLs and wrapped keys.
   */
  public static final int KEEPS_VERSIONS = 4;

  /** From this version on, there are accounts, identities and their access keys. */
  public static final int IDENTITIES = 4;

  /** From this version on, a bucket can have documents from its creation on. */
  public static final int CREATES_WITH_DOCUMENTS = 5;

  /** From this version on, a rename with a mark can be repeated. */
  public static final int MARKS_RENAMES = 5;

  /**
   * From this version on, a retention keeps its mode until it is over, and rows record whether a
   * legal hold was ever told.
   */
  public static final int KEEPS_MODES_OF_LOCKS = 5;

  /**
   * From this version on, a document is put only if the bucket is configured as its sender knows.
   */
  public static final int EXPECTS_REVISIONS = 6;

  /**
   * From this version on, blobs may be frozen, and the registry may be restored. A restore from a
   * backup begins with it, so that builds which know neither take no part.
   */
  public static final int FREEZES_BLOBS = 7;

  /**
   * From this version on, profiles can be added to the store, and removed, and new data can be a
   * copy of data that has another profile. A map of drives must have the profiles of the present
   * one, and placement groups without blobs do not keep a drive from being replaced.
   */
  public static final int ADDS_PROFILES = 8;

  /**
   * From this version on, objects may be encrypted: they have runs, and store more bytes. A wrapped
   * key is replaced only if it is the one that the sender knows.
   */
  public static final int ENCRYPTS = 9;

  /**
   * From this version on, what is written is dated by the log's time if the clock of its proposer
   * is far behind that.
   */
  public static final int DATES_BY_LOG = 9;

  /** From this version on, a version is deleted only if enough newer ones are kept. */
  public static final int KEEPS_NEWER_VERSIONS = 9;

  private MetadataVersion() {}

  /**
   * The version supported by a peer that reports this; 0 was reported by builds without versions.
   */
  public static int known(int told) {
    return Math.max(FIRST, told);
  }
}
