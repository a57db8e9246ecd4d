package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request to a drive: an operation of {@link dev.ashlar.protocol.client.ShardStore}. */
public sealed interface Request extends Message {
  /** The longest range of one read. */
  int READ_BYTES_MAX = SlabPool.MAX_SLAB_BYTES - 2 * Profile.BLOCK_BYTES;

  /** Bytes of data that follow, in the request's own frame and in DATA frames. */
  default int dataBytes() {
    return 0;
  }

  /** Whether it changes nothing: a read or a listing. */
  default boolean isRead() {
    return this instanceof Read || this instanceof ListBlobs || this instanceof ListAttempts;
  }

  /** The bytes of the drive's window that it occupies while it is under way. */
  default int windowBytes() {
    return this instanceof Read read ? read.length() : dataBytes();
  }

  record Read(ShardId shard, ShardView view, long offset, int length) implements Request {
    public Read {
      if (offset < 0 || length < 1 || length > READ_BYTES_MAX) {
        throw new IllegalArgumentException("range " + offset + "+" + length);
      }
      checkEntries(view.unfolded());
    }
  }

  /**
   * @param length bytes of data
   * @param crcs of each 4 KiB of them
   */
  record Write(ShardId shard, long offset, int length, int[] crcs) implements Request {
    public Write {
      checkLength(length);
      if (offset < 0 || offset % Profile.BLOCK_BYTES != 0) {
        throw new IllegalArgumentException("shard offset " + offset);
      }
      if (crcs.length != Math.ceilDiv(length, Profile.BLOCK_BYTES)) {
        throw new IllegalArgumentException(crcs.length + " checksums for " + length + " bytes");
      }
    }

    @Override
    public int dataBytes() {
      return length;
    }
  }

  /** A {@link ShardIntent.Bytes} without its bytes. */
  record PrepareBytes(ShardIntent.Target target, long offset, int length, int[] crcs)
      implements Request {
    public PrepareBytes {
      checkPieces(offset, length, crcs);
      checkEntries(target.base().unfolded());
    }

    @Override
    public int dataBytes() {
      return length;
    }
  }

  /** A {@link ShardIntent.Deltas} without its bytes, which follow in the order of the ranges. */
  record PrepareDeltas(ShardIntent.Target target, Profile profile, List<Range> ranges)
      implements Request {
    public PrepareDeltas {
      ranges = entries(ranges);
      checkEntries(target.base().unfolded());
      checkLength((int) Math.min(Integer.MAX_VALUE, total(ranges)));
    }

    @Override
    public int dataBytes() {
      return (int) total(ranges);
    }

    private static long total(List<Range> ranges) {
      long total = 0;
      for (Range range : ranges) {
        total += range.length();
      }
      return total;
    }
  }

  /** Where one {@link ShardIntent.Delta} applies. */
  record Range(int dataShard, long offset, int length, int[] crcs) {
    public Range {
      if (dataShard < 0 || dataShard >= Profile.MAX_SHARDS) {
        throw new IllegalArgumentException("data shard " + dataShard);
      }
      checkPieces(offset, length, crcs);
    }
  }

  record FoldAll(List<FoldIntent> folds) implements Request {
    public FoldAll {
      folds = entries(folds);
    }
  }

  record DropAll(List<DiscardIntent> drops) implements Request {
    public DropAll {
      drops = entries(drops);
    }
  }

  record DeleteAll(List<BlobId> blobs) implements Request {
    public DeleteAll {
      blobs = entries(blobs);
    }
  }

  record ListBlobs(long session, @Nullable BlobId after, int max) implements Request {
    public ListBlobs {
      checkPage(max);
    }
  }

  record ListAttempts(long session, @Nullable DiscardIntent after, int max) implements Request {
    public ListAttempts {
      checkPage(max);
    }
  }

  private static void checkLength(int length) {
    if (length < 1 || length > Wire.DATA_BYTES_MAX) {
      throw new IllegalArgumentException("data of " + length + " bytes");
    }
  }

  private static void checkPieces(long offset, int length, int[] crcs) {
    checkLength(length);
    if (offset < 0 || crcs.length != ShardIntent.pieces(offset, length)) {
      throw new IllegalArgumentException(
          crcs.length + " checksums for " + length + " bytes at " + offset);
    }
  }

  private static <T> List<T> entries(List<T> entries) {
    checkEntries(entries);
    return List.copyOf(entries);
  }

  private static void checkEntries(List<?> entries) {
    if (entries.size() > Wire.ENTRIES_MAX) {
      throw new IllegalArgumentException(entries.size() + " entries in one message");
    }
  }

  private static void checkPage(int max) {
    if (max < 1 || max > Wire.ENTRIES_MAX) {
      throw new IllegalArgumentException("page of " + max + " entries");
    }
  }
}
