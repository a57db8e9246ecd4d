package dev.ashlar.metadata.state.apply;

/**
 * The version of metadata: of the rows, and of what commands do to them. One is in use in a group;
 * it stands in the tables and only ever grows, by the first log entry of a greater one. A peer
 * applies every entry by the rules of the version in use, and stops before one that it does not
 * know. So peers of different builds make the same rows, as long as each build keeps to this:
 *
 * <ul>
 *   <li>Whatever makes other rows or answers than before (a new command or field, another rule,
 *       another row) is a new version, one more than {@link #KNOWN}.
 *   <li>While an older version is in use, apply does what it did then: it refuses a new command as
 *       INVALID_COMMAND, as an older build does, and takes a new field for not given.
 *   <li>A command at which apply fails is refused and changes nothing. Who mends such a fault makes
 *       other rows of the same entry: that is a new version, too.
 *   <li>Rows that have to be rewritten are, in the entry with which the version comes.
 * </ul>
 */
public final class MetadataVersion {
  /** In use in a group that begins, until all its peers know a greater one. */
  public static final int FIRST = 2;

  /** The greatest one that this build knows. */
  public static final int KNOWN = 3;

  /**
   * From here on a command at which apply fails is refused. Before, it stopped the peer, and every
   * start of it: nobody came past such an entry, so nobody made other rows of it.
   */
  public static final int REFUSES_FAULTS = 3;

  /** From here on rows tell which slots missed the changes that are not folded. */
  public static final int KNOWS_MISSED_SLOTS = 3;

  /** From here on drives of a store in one process begin new lives only if they may be lost. */
  public static final int ASKS_FOR_LOCAL_DRIVES = 3;

  /** From here on drives that were replaced may take their places again. */
  public static final int RECALLS_DRIVES = 3;

  /** From here on all drives of a node are absent that it comes without, also where that is all. */
  public static final int MISSES_ALL_DRIVES = 3;

  private MetadataVersion() {}

  /** What a peer knows that says this; 0 before peers told. */
  public static int known(int told) {
    return Math.max(FIRST, told);
  }
}
