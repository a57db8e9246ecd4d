package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.client.ShardFault;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/**
 * The index of a drive failed. It puts nothing in doubt that was acknowledged: the log has that,
 * and the index can be opened again or made anew from it.
 */
public final class IndexException extends IOException {
  private static final long serialVersionUID = 1;

  private final Kind kind;

  /** What has to be done. */
  public enum Kind {
    /** Its bytes are not what was written: it has to be made anew. */
    DAMAGED(
        ShardFault.UNAVAILABLE,
        "its index is made anew",
        "The index is discarded and made anew from the log; the drive refuses all requests until"
            + " then"),
    /** It could not be read, which may pass: it is opened again before it counts as damaged. */
    UNREADABLE(
        ShardFault.UNAVAILABLE,
        "its index could not be read and is opened again",
        "The index is opened again, and made anew from the log only if it cannot be read then"
            + " either; the drive takes no writes until then. Check its cables and controller"),
    /**
     * The process was killed before the index was first written, or while it was made anew, or it
     * is not there. That is no fault.
     */
    UNFINISHED(
        ShardFault.UNAVAILABLE,
        "its index is made anew",
        "It is made anew from the log; the drive refuses all requests until then"),
    /** The file system had no room for its files: it can be opened again when there is some. */
    NO_SPACE(
        ShardFault.FULL,
        "its file system has no room for its index",
        "The drive takes no writes until the file system has room; delete something else on it"),
    /** The process had too many files open: it can be opened again when it has fewer. */
    NO_FILES(
        ShardFault.UNAVAILABLE,
        "the process has too many files open",
        "The drive takes no writes until files can be opened; raise the limit (ulimit -n)"),
    /** A write failed otherwise, or something unknown: it can be opened again. */
    FAILED(
        ShardFault.UNAVAILABLE,
        "its index is opened again",
        "The index is opened again; the drive takes no writes until then, and reads only until it"
            + " is closed for that");

    private final ShardFault fault;
    private final String says;
    private final String plan;

    Kind(ShardFault fault, String says, String plan) {
      this.fault = fault;
      this.says = says;
      this.plan = plan;
    }

    /** Why requests are refused. */
    public String says() {
      return says;
    }

    /** What is done about it, for the log. */
    public String plan() {
      return plan;
    }

    /** Whether the index is of no use any more. */
    public boolean isDiscarded() {
      return this == DAMAGED;
    }

    /** Whether what is there could not be read as it was written. */
    boolean isOfContent() {
      return this == DAMAGED || this == UNREADABLE;
    }

    /** Whether it passes by itself, so that it is only looked at again now and then. */
    public boolean isWaitedFor() {
      return this == NO_SPACE || this == NO_FILES;
    }

    /** What requests are told until then. */
    public ShardFault fault() {
      return fault;
    }
  }

  public IndexException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** A row that is not in the form in which rows are written. */
  static IndexException malformed(RuntimeException cause) {
    return new IndexException(Kind.DAMAGED, "index: a row is malformed: " + cause, cause);
  }

  public static IndexException of(RocksDBException e) {
    return new IndexException(kind(e), "index: " + e.getMessage(), e);
  }

  /** The failure of an index that caused this one, or null. */
  public static @Nullable IndexException in(@Nullable Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof IndexException found) {
        return found;
      }
    }
    return null;
  }

  public Kind kind() {
    return kind;
  }

  private static Kind kind(RocksDBException e) {
    Status status = e.getStatus();
    if (status == null) {
      return Kind.FAILED;
    }
    return switch (status.getCode()) {
      case Corruption -> Kind.DAMAGED;
      case IOError -> ofInputOutput(status, String.valueOf(e.getMessage()));
      default -> Kind.FAILED;
    };
  }

  /** RocksDB has no codes for these: its messages end with what the system says. */
  private static Kind ofInputOutput(Status status, String message) {
    if (status.getSubCode() == Status.SubCode.NoSpace || message.contains("No space left")) {
      return Kind.NO_SPACE;
    }
    if (message.contains("Too many open files")) {
      return Kind.NO_FILES;
    }
    if (message.contains("No such file or directory")) {
      return Kind.DAMAGED;
    }
    boolean isUnreadable = message.contains("While pread") || message.contains("While reading");
    return isUnreadable ? Kind.UNREADABLE : Kind.FAILED;
  }
}
