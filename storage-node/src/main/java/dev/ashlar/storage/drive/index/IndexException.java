package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.client.ShardFault;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/**
 * A failure of a drive's index. It puts no acknowledged data in doubt: the log holds the data, and
 * the index can be reopened or rebuilt from it.
 */
public final class IndexException extends IOException {
  private static final long serialVersionUID = 1;

  private final Kind kind;

  /** Kinds of failure by the recovery they need. */
  public enum Kind {
    /** The index is damaged and has to be rebuilt. */
    DAMAGED(
        ShardFault.UNAVAILABLE,
        "its index is being rebuilt",
        "The index is discarded and rebuilt from the log; the drive refuses all requests"
            + " until then"),
    /**
     * The index could not be read. This may be transient, so it is reopened before it counts as
     * damaged.
     */
    UNREADABLE(
        ShardFault.UNAVAILABLE,
        "its index could not be read and is being reopened",
        "The index is reopened, and rebuilt from the log only if it is unreadable then; the"
            + " drive refuses writes until then. Check the cables and the controller of the drive"),
    /**
     * The index is missing, or the process was killed before the index was first written or during
     * a rebuild. This is no fault.
     */
    UNFINISHED(
        ShardFault.UNAVAILABLE,
        "its index is being rebuilt",
        "It is rebuilt from the log; the drive refuses all requests until then"),
    /**
     * The file system has no space for files of the index. It can be reopened when there is some.
     */
    NO_SPACE(
        ShardFault.FULL,
        "its file system has no space for the index",
        "The drive refuses writes until the file system has free space; delete other files"
            + " on it"),
    /** The process has too many open files. The index can be reopened when it has fewer. */
    NO_FILES(
        ShardFault.UNAVAILABLE,
        "the process has too many files open",
        "The drive refuses writes until files can be opened; raise the limit (ulimit -n)"),
    /** Another write failure or an unknown one. The index can be reopened. */
    FAILED(
        ShardFault.UNAVAILABLE,
        "its index is opened again",
        "The index is reopened; the drive refuses writes until then, and reads while the"
            + " index is closed");

    private final ShardFault fault;
    private final String reason;
    private final String remedy;

    Kind(ShardFault fault, String reason, String remedy) {
      this.fault = fault;
      this.reason = reason;
      this.remedy = remedy;
    }

    /** The reason given when requests are refused. */
    public String reason() {
      return reason;
    }

    /** The recovery, for the log. */
    public String remedy() {
      return remedy;
    }

    public boolean isDiscarded() {
      return this == DAMAGED;
    }

    /** Whether the content could not be read as it was written. */
    public boolean isOfContent() {
      return this == DAMAGED || this == UNREADABLE;
    }

    /** Whether the condition is temporary, so that it is only checked from time to time. */
    public boolean isWaitedFor() {
      return this == NO_SPACE || this == NO_FILES;
    }

    public ShardFault fault() {
      return fault;
    }
  }

  public IndexException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  static IndexException malformed(RuntimeException cause) {
    return new IndexException(Kind.DAMAGED, "index: a row is malformed: " + cause, cause);
  }

  public static IndexException of(RocksDBException e) {
    return new IndexException(kind(e), "index: " + e.getMessage(), e);
  }

  /** The index failure among the causes of this exception, or null. */
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

  /**
   * RocksDB has no codes for these cases: its messages end with the error of the operating system.
   */
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
