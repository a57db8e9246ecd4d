package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.read.ShardReader;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a drive has been told, in plain maps: the truth that it is compared with. */
final class DriveModel {
  private static final int BLOCK = SegmentFormat.BLOCK;

  enum Certainty {
    ACKNOWLEDGED,
    UNCERTAIN
  }

  /** One blob: its pieces by shard and first block, and whether it was deleted. */
  private static final class Blob {
    final Map<PieceKey, byte[]> bytes = new LinkedHashMap<>();
    final Map<PieceKey, Certainty> states = new LinkedHashMap<>();
    boolean isDeleted;
    boolean isMaybeDeleted;
  }

  record PieceKey(ShardId shard, int firstBlock) {}

  private final Map<BlobId, Blob> blobs = new LinkedHashMap<>();
  private final boolean seenIsSettled;

  /**
   * @param seenIsSettled whether what was never acknowledged but is found after a restart has to
   *     stay; not so behind a failed sync, after which a cache may show what the drive lacks
   */
  DriveModel(boolean seenIsSettled) {
    this.seenIsSettled = seenIsSettled;
  }

  void wrote(ShardId shard, int firstBlock, byte[] bytes, Certainty state) {
    Blob blob = blobs.computeIfAbsent(shard.blob(), id -> new Blob());
    PieceKey key = new PieceKey(shard, firstBlock);
    blob.bytes.put(key, bytes);
    blob.states.put(key, state);
  }

  void deleted(BlobId id) {
    blobOf(id).isDeleted = true;
  }

  void notDeleted(BlobId id) {
    blobOf(id).isMaybeDeleted = false;
  }

  void maybeDeleted(BlobId id) {
    blobOf(id).isMaybeDeleted = true;
  }

  @Nullable BlobId anyLiveBlob(Random random) {
    List<BlobId> live = new ArrayList<>();
    blobs.forEach(
        (id, blob) -> {
          if (!blob.isDeleted && !blob.isMaybeDeleted) {
            live.add(id);
          }
        });
    return live.isEmpty() ? null : live.get(random.nextInt(live.size()));
  }

  /**
   * Compares everything. What turned out to be there or not to be there has to stay so.
   *
   * @param allowed faults that are accepted for any piece because of what was done to the drive
   */
  void check(ShardReader reader, Set<ShardFault> allowed) {
    for (Map.Entry<BlobId, Blob> entry : blobs.entrySet()) {
      Blob blob = entry.getValue();
      int present = 0;
      for (PieceKey key : List.copyOf(blob.bytes.keySet())) {
        present += checkPiece(reader, blob, key, allowed) ? 1 : 0;
      }
      if (blob.isMaybeDeleted && allowed.isEmpty() && seenIsSettled) {
        boolean isGone = present == 0;
        assertTrue(
            isGone || present == blob.bytes.size(), () -> entry.getKey() + " is half deleted");
        blob.isDeleted = isGone;
        blob.isMaybeDeleted = false;
      }
    }
  }

  /**
   * What has to hold whatever a disk did with what it acknowledged: pieces may be lost, and may be
   * there though they were deleted, but no byte is another one.
   */
  void checkBytes(ShardReader reader) {
    for (Blob blob : blobs.values()) {
      blob.bytes.forEach((key, expected) -> checkRightIfThere(reader, key, expected));
    }
  }

  private static void checkRightIfThere(ShardReader reader, PieceKey key, byte[] expected) {
    byte[] found;
    try {
      found = read(reader, key, expected.length);
    } catch (ShardException e) {
      return; // lost, which is known then
    }
    assertTrue(Arrays.equals(expected, found), () -> key + " has other bytes");
  }

  private static byte[] read(ShardReader reader, PieceKey key, int length) throws ShardException {
    return AbstractShardStoreContract.bytesOf(
        reader.read(
            new ShardRange(
                key.shard(), ShardView.ORIGINAL, (long) key.firstBlock() * BLOCK, length)));
  }

  private boolean checkPiece(ShardReader reader, Blob blob, PieceKey key, Set<ShardFault> allowed) {
    byte[] expected = blob.bytes.get(key);
    if (expected == null) {
      throw new IllegalStateException("no such piece");
    }
    byte[] found = null;
    try {
      found = read(reader, key, expected.length);
    } catch (ShardException e) {
      checkFault(blob, key, e, allowed);
    }
    if (found != null) {
      assertTrue(!blob.isDeleted, () -> key + " came back from the dead");
      assertTrue(Arrays.equals(expected, found), () -> key + " has other bytes");
      if (seenIsSettled) {
        blob.states.put(key, Certainty.ACKNOWLEDGED);
      }
    } else if (blob.states.get(key) == Certainty.UNCERTAIN && seenIsSettled) {
      blob.states.remove(key);
      blob.bytes.remove(key);
    }
    return found != null;
  }

  private static void checkFault(
      Blob blob, PieceKey key, ShardException e, Set<ShardFault> allowed) {
    if (allowed.contains(e.fault())) {
      return;
    }
    boolean mayMiss =
        blob.isDeleted || blob.isMaybeDeleted || blob.states.get(key) == Certainty.UNCERTAIN;
    assertTrue(mayMiss, () -> "acknowledged " + key + " is lost: " + e.getMessage());
    assertEquals(ShardFault.MISSING, e.fault(), e.getMessage());
  }

  private Blob blobOf(BlobId id) {
    Blob blob = blobs.get(id);
    if (blob == null) {
      throw new IllegalStateException("unknown " + id);
    }
    return blob;
  }

  static Set<ShardFault> none() {
    return EnumSet.noneOf(ShardFault.class);
  }
}
