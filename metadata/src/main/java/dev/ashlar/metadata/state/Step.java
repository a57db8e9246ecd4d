package dev.ashlar.metadata.state;

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
record Step(
    Overlay table, Catalog catalog, Sessions sessions, Times times, long freshId, int version) {
  static final CommandResult OK = CommandResult.getDefaultInstance();

  /**
   * When it is.
   *
   * @param timeMs the proposer's clock
   * @param logTimeMs the greatest steady time of any command so far: never goes back
   * @param unbrokenSinceMs log time since which commands have come one shortly after the other
   */
  record Times(long timeMs, long logTimeMs, long unbrokenSinceMs) {}

  long timeMs() {
    return times.timeMs();
  }

  long logTimeMs() {
    return times.logTimeMs();
  }

  /**
   * Since when a node has been silent. Where nobody was heard, because there was no metadata or a
   * clock jumped, silence says nothing about one of them.
   */
  long silentSinceMs(NodeRow node) {
    return sinceMs(node.getHeartbeatMs());
  }

  /** The time from which on it is known what has happened since then. */
  long sinceMs(long logTimeMs) {
    return Math.max(logTimeMs, times.unbrokenSinceMs());
  }

  BucketRow bucket(String name) {
    BucketRow bucket = catalog.buckets().get(name);
    if (bucket == null) {
      throw new Refusal(ResultCode.NO_SUCH_BUCKET);
    }
    return bucket;
  }

  /** There are no blobs before there is one. */
  PlacementMap placement() {
    PlacementMap map = catalog.placement();
    if (map == null) {
      throw new Refusal(ResultCode.INVALID_COMMAND);
    }
    return map;
  }

  static void require(boolean condition, ResultCode otherwise) {
    if (!condition) {
      throw new Refusal(otherwise);
    }
  }

  CommandResult written() {
    return CommandResult.newBuilder().setLastModifiedMs(timeMs()).setVersion(freshId).build();
  }
}
