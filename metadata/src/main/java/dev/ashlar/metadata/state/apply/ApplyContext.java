package dev.ashlar.metadata.state.apply;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * The context in which one command of the log is applied.
 *
 * @param command the command itself
 * @param freshId greater than that of every earlier command; identifies what the command creates
 * @param version the metadata version in use, see {@link MetadataVersion}
 */
public record ApplyContext(
    Overlay table,
    Catalog catalog,
    Sessions sessions,
    UsageCounts usage,
    Command command,
    Times times,
    long freshId,
    int version) {
  public static final CommandResult OK = CommandResult.getDefaultInstance();

  /**
   * A proposer's clock that is less behind the log is believed: clocks differ, and the log's time
   * may be ahead after a wrong clock.
   */
  private static final Duration BEHIND_MAX = Duration.ofHours(1);

  /**
   * The times of a command.
   *
   * @param timeMs the proposer's clock
   * @param logTimeMs the greatest steady time of any command so far; never goes back
   * @param unbrokenSinceMs log time since which commands have followed each other without a long
   *     gap
   */
  public record Times(long timeMs, long logTimeMs, long unbrokenSinceMs) {}

  public long timeMs() {
    return times.timeMs();
  }

  /**
   * The date of what the command writes: the proposer's clock, unless that is far behind the log.
   * What is dated too early would expire too early.
   */
  public long writtenMs() {
    return version >= MetadataVersion.DATES_BY_LOG
        ? Math.max(timeMs(), logTimeMs() - BEHIND_MAX.toMillis())
        : timeMs();
  }

  public long logTimeMs() {
    return times.logTimeMs();
  }

  /**
   * The log time since which a node has been silent. A gap in which no node was heard, because
   * metadata was down or a clock jumped, does not count.
   */
  public long silentSinceMs(NodeRow node) {
    return sinceMs(node.getHeartbeatMs());
  }

  /** This log time, or the end of the latest gap without commands if that is later. */
  long sinceMs(long logTimeMs) {
    return Math.max(logTimeMs, times.unbrokenSinceMs());
  }

  public BucketRow bucket(String name) {
    return require(Optional.ofNullable(catalog.buckets().get(name)), ResultCode.NO_SUCH_BUCKET);
  }

  /** The placement map; commands on blobs are refused before there is one. */
  public PlacementMap placement() {
    return require(Optional.ofNullable(catalog.placement()), ResultCode.INVALID_COMMAND);
  }

  public Optional<DriveRow> drive(UUID id) {
    return table.row(Keys.drive(id), DriveRow.parser());
  }

  public void put(DriveRow drive) {
    table.put(Keys.drive(DriveId.idOf(drive)), drive.toByteArray());
  }

  /** The row, if it is there; otherwise refuses the command. */
  public static <T> T require(Optional<T> row, ResultCode otherwise) {
    return row.orElseThrow(() -> new RefusedCommandException(otherwise));
  }

  public static void require(boolean condition, ResultCode otherwise) {
    if (!condition) {
      throw new RefusedCommandException(otherwise);
    }
  }

  /** Refuses a command that builds of the metadata version in use do not know. */
  public void requireVersion(int needed) {
    require(version >= needed, ResultCode.INVALID_COMMAND);
  }

  public CommandResult written() {
    return CommandResult.newBuilder().setLastModifiedMs(writtenMs()).setVersion(freshId).build();
  }
}
