package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One drive, local or remote. Operations are queued (a full queue fails them with {@link
 * ShardFault#OVERLOADED}) and end in their {@link Completion}; none blocks the caller.
 */
public interface ShardStore {
  /** Entries per page of a listing. */
  int PAGE_ENTRIES = 1024;

  /** The drive and its incarnation, which its acknowledgements count for. */
  DriveId drive();

  /** Whether new data is accepted; false when read-only, full, hanging or closed. */
  default boolean isWritable() {
    return writeRefusal() == null;
  }

  /** The fault that a write would be refused with; null when new data is accepted. */
  @Nullable ShardFault writeRefusal();

  /**
   * Stores new bytes. Success means durable: synced on the drive. Every (shard, offset) is written
   * at most once: blob ids are fresh per attempt.
   */
  void write(ShardWrite write, Completion<DriveId> completion);

  /**
   * Reads exactly {@code length} bytes as of the view; only the 4 KiB blocks that hold them are
   * read, and each is verified. {@link ShardFault#MISSING} unless the drive has all of them and all
   * changes that the view names. {@link ShardFault#REVISION_GONE} when a newer folded revision has
   * changed bytes of these blocks and the old ones are no longer kept. Growth does not change the
   * bytes before it.
   *
   * @param length 1 to {@link dev.ashlar.protocol.memory.SlabPool#MAX_SLAB_BYTES} - 8 KiB
   */
  void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion);

  /**
   * Reads as {@link #read} does, on the calling thread, if that needs no drive: everything is in
   * memory. It takes as long as copying and verifying the bytes.
   *
   * @return null if something is not in memory or the read fails; {@link #read} has the result or
   *     the error then
   */
  default @Nullable ShardData readCached(ShardId shard, ShardView view, long offset, int length) {
    return null;
  }

  /**
   * Stores a provisional change beside the shard. Success means durable. {@link ShardFault#MISSING}
   * unless the drive has all changes that its base names, and the old bytes it needs: those of
   * partly changed blocks, and for deltas all below the base length.
   *
   * <p>One attempt may send several intents for a shard, but never two for the same block.
   */
  void prepare(ShardIntent intent, Completion<DriveId> completion);

  /**
   * Folds intents into their shards, each shard's in ascending order of revision. What is folded
   * already is no error. {@link ShardFault#MISSING} if the intents of any of them are not here; the
   * others are folded nevertheless.
   */
  void fold(List<FoldIntent> folds, Completion<DriveId> completion);

  /** Forgets intents durably. Absent ones are not an error; what is folded stays. */
  void drop(List<DiscardIntent> drops, Completion<DriveId> completion);

  /** Removes every shard and intent of these blobs durably. Absent ones are not an error. */
  void delete(List<BlobId> blobs, Completion<DriveId> completion);

  /**
   * The first blobs, in order, of which this drive holds a shard and that belong to sessions below
   * the given one. Used to collect what dead sessions left behind; runs on the caller's thread and
   * may take long.
   *
   * @param after only greater blobs; null: from the first
   * @param max at least 1; a shorter page is the last
   */
  List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) throws ShardException;

  /**
   * The first blobs and attempts, in order, with intents that are not folded, where the attempt
   * belongs to a session below the given one. Otherwise as {@link #blobsBelow}.
   */
  List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException;

  /** Visits all {@link #blobsBelow}. */
  default void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws ShardException {
    List<BlobId> page = blobsBelow(session, null, PAGE_ENTRIES);
    page.forEach(visitor);
    while (page.size() == PAGE_ENTRIES) {
      page = blobsBelow(session, page.getLast(), PAGE_ENTRIES);
      page.forEach(visitor);
    }
  }

  /** Visits all {@link #attemptsBelow}. */
  default void forEachAttemptBelow(long session, BiConsumer<BlobId, AttemptId> visitor)
      throws ShardException {
    List<DiscardIntent> page = attemptsBelow(session, null, PAGE_ENTRIES);
    page.forEach(each -> visitor.accept(each.blob(), each.attempt()));
    while (page.size() == PAGE_ENTRIES) {
      page = attemptsBelow(session, page.getLast(), PAGE_ENTRIES);
      page.forEach(each -> visitor.accept(each.blob(), each.attempt()));
    }
  }
}
