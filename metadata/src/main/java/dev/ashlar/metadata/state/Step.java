package dev.ashlar.metadata.state;

import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.PlacementMap;

/**
 * One command at its place in the log.
 *
 * @param timeMs the proposer's clock
 * @param logTimeMs the greatest time of any command so far: never goes back
 * @param freshId greater than that of every earlier command; for whatever the command creates
 */
record Step(
    Overlay table, Catalog catalog, Sessions sessions, long timeMs, long logTimeMs, long freshId) {
  static final CommandResult OK = CommandResult.getDefaultInstance();

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
    return CommandResult.newBuilder().setLastModifiedMs(timeMs).setVersion(freshId).build();
  }
}
