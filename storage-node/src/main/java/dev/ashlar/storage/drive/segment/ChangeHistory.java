package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.BlobId;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Hashes of the blobs that the latest batches of the log changed. Each batch stores this history of
 * the batches before it: if one of those becomes unreadable, only the blobs named here are in
 * doubt. The history uses padding behind the records if there is enough. Not thread-safe.
 */
public final class ChangeHistory {
  /** Maximum size kept and stored, unless the latest batch alone takes more. */
  private static final int WORDS_MAX = 256;

  /** A batch that changed more blobs is not recorded, nor is any batch before it. */
  private static final int BLOBS_MAX = 900;

  /**
   * In stored form: for each batch, newest first, the number of changed blobs and their hashes.
   * Most batches change none and many batches are known: moving an array is faster than walking a
   * list.
   */
  private int[] words = new int[2 * WORDS_MAX];

  private int wordCount;

  /**
   * The words of each batch, newest first, so that the oldest ones are dropped without a search.
   */
  private int[] sizes = new int[2 * WORDS_MAX];

  private int batches;

  /**
   * The stored form: for each earlier batch, newest first, the number of changed blobs and their
   * hashes.
   */
  public record Stored(int batches, int[] words) {
    public static final Stored NONE = new Stored(0, new int[0]);

    /** Hashes of the blobs that this many latest batches changed. */
    public Set<Integer> changedBy(long lastBatches) {
      Set<Integer> changed = new HashSet<>();
      int at = 0;
      for (long batch = 0; batch < lastBatches; batch++) {
        int count = words[at++];
        for (int i = 0; i < count; i++) {
          changed.add(words[at++]);
        }
      }
      return changed;
    }

    public int storedBytes() {
      return batches == 0 ? 0 : SegmentFormat.historyBytes(words.length);
    }
  }

  /** The blobs that one batch changes. Blobs to which it only adds plain bytes do not count. */
  public static final class Changes implements BatchScanner.RecordVisitor {
    private int[] hashes = new int[8];
    private int count;

    @Override
    public void piece(ShardPiece piece) {
      if (!(piece.role() instanceof ShardPiece.Base) || piece.extent().stamp().revision() > 0) {
        add(piece.shard().blob());
      }
    }

    /** A lost discard restores intents of attempts that were never committed: no shard changes. */
    @Override
    public void mark(MarkRecord mark) {
      if (!(mark instanceof MarkRecord.DiscardMark)) {
        add(mark.blob());
      }
    }

    private void add(BlobId blob) {
      if (count == hashes.length) {
        hashes = Arrays.copyOf(hashes, 2 * count);
      }
      hashes[count++] = hash(blob);
    }

    private int[] distinct() {
      Arrays.sort(hashes, 0, count);
      int kept = 0;
      for (int i = 0; i < count; i++) {
        if (i == 0 || hashes[i] != hashes[i - 1]) {
          hashes[kept++] = hashes[i];
        }
      }
      return Arrays.copyOf(hashes, kept);
    }
  }

  /** Part of the format. Two blobs with the same hash are in doubt together. */
  public static int hash(BlobId blob) {
    long mixed = blob.session() * 0x9E3779B97F4A7C15L + blob.sequence();
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    return (int) (mixed ^ (mixed >>> 32));
  }

  public void add(Changes changes) {
    int[] hashes = changes.distinct();
    if (hashes.length > BLOBS_MAX) {
      batches = 0;
      wordCount = 0;
      return;
    }
    int added = 1 + hashes.length;
    reserve(added + wordCount);
    System.arraycopy(words, 0, words, added, wordCount);
    System.arraycopy(sizes, 0, sizes, 1, batches);
    words[0] = hashes.length;
    sizes[0] = added;
    System.arraycopy(hashes, 0, words, 1, hashes.length);
    wordCount += added;
    batches++;
    while (wordCount > Math.max(WORDS_MAX, added)) {
      wordCount -= sizes[--batches];
    }
  }

  /** Makes room for this many words, each of which may be a batch. */
  private void reserve(int count) {
    if (count > words.length) {
      words = Arrays.copyOf(words, 2 * count);
      sizes = Arrays.copyOf(sizes, 2 * count);
    }
  }

  /**
   * Restores the history that the last batch of a log stored, before that batch itself is added.
   */
  public void restore(Stored stored) {
    reserve(stored.words().length);
    System.arraycopy(stored.words(), 0, words, 0, stored.words().length);
    batches = stored.batches();
    wordCount = 0;
    for (int i = 0; i < batches; i++) {
      sizes[i] = 1 + words[wordCount];
      wordCount += sizes[i];
    }
  }

  /** Size of the record for the newest batch alone; 0 if it is unknown. */
  public int bytesMin() {
    return batches == 0 ? 0 : SegmentFormat.historyBytes(1 + words[0]);
  }

  /** The newest batches that fit this many bytes. */
  public Stored fitting(int bytes) {
    int room = (bytes - SegmentFormat.historyBytes(0)) / Integer.BYTES;
    int count = batches;
    int fit = wordCount;
    while (count > 0 && fit > room) {
      fit -= sizes[--count];
    }
    return count == 0 ? Stored.NONE : new Stored(count, Arrays.copyOf(words, fit));
  }
}
