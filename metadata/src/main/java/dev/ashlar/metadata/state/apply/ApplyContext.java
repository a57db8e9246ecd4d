package dev.ashlar.metadata.state.apply;

import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.PlacementMap;

/**
 * One command at its place in the log.
 *
 * @param freshId greater than that of every earlier command; for whatever the command creates
 * @param version of metadata that is in use, see {@link MetadataVersion}
 */
public record ApplyContext(
    Overlay table, Catalog catalog, Sessions sessions, Times times, long freshId, int version) {
  public static final CommandResult OK = CommandResult.getDefaultInstance();

  /**
   * When it is.
   *
   * @param timeMs the proposer's clock
   * @param logTimeMs the greatest steady time of any command so far: never goes back
   * @param unbrokenSinceMs log time since which commands have come one shortly after the other
   */
  public record Times(long timeMs, long logTimeMs, long unbrokenSinceMs) {}

  public long timeMs() {
    return times.timeMs();
  }

  public long logTimeMs() {
    return times.logTimeMs();
  }

  /**
   * Since when a node has been silent. Where nobody was heard, because there was no metadata or a
   * clock jumped, silence says nothing about one of them.
   */
  public long silentSinceMs(NodeRow node) {
    return sinceMs(node.getHeartbeatMs());
  }

  /** The time from which on it is known what has happened since then. */
  long sinceMs(long logTimeMs) {
    return Math.max(logTimeMs, times.unbrokenSinceMs());
  }

  public BucketRow bucket(String name) {
    BucketRow bucket = catalog.buckets().get(name);
    if (bucket == null) {
      throw new RefusedCommandException(ResultCode.NO_SUCH_BUCKET);
    }
    return bucket;
  }

  /** There are no blobs before there is one. */
  public PlacementMap placement() {
    PlacementMap map = catalog.placement();
    if (map == null) {
      throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    }
    return map;
  }

  public static void require(boolean condition, ResultCode otherwise) {
    if (!condition) {
      throw new RefusedCommandException(otherwise);
    }
  }

  public CommandResult written() {
    return CommandResult.newBuilder().setLastModifiedMs(timeMs()).setVersion(freshId).build();
  }
}
