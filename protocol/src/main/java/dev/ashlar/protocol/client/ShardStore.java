package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One drive as the rest of the system sees it. Operations are queued (bounded: {@link
 * ShardFault#OVERLOADED} when there is no room) and end in their {@link Completion}; none blocks
 * the caller.
 */
public interface ShardStore {
  /** What its acknowledgements count for. */
  DriveId drive();

  /** Whether new data may be sent; false when read-only, full, hanging or closed. */
  default boolean isWritable() {
    return writeRefusal() == null;
  }

  /** What a write would be refused with before it is queued; null when new data may be sent. */
  @Nullable ShardFault writeRefusal();

  /**
   * Stores new bytes. Success means durable: synced on the drive. Every (shard, offset) is written
   * at most once: blob ids are fresh per attempt.
   */
  void write(ShardWrite write, Completion<DriveId> completion);

  /**
   * Reads exactly {@code length} bytes; only the 4 KiB blocks that hold them are read, and each is
   * verified. {@link ShardFault#MISSING} unless the drive has all of them.
   *
   * @param length 1 to {@link dev.ashlar.protocol.memory.SlabPool#MAX_SLAB_BYTES} - 8 KiB
   */
  void read(ShardId shard, long offset, int length, Completion<ShardData> completion);

  /** Removes every shard of these blobs durably. Absent ones are not an error. */
  void delete(List<BlobId> blobs, Completion<DriveId> completion);

  /**
   * Visits, in order, the ids of all blobs of which this drive holds a shard and that belong to
   * sessions below the given one. For collecting what dead sessions left behind; runs on the
   * caller's thread and may take long.
   */
  void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws ShardException;
}
