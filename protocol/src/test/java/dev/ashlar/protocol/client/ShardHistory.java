package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A shard that is changed again and again, and a plain array of what it is at each revision. */
final class ShardHistory {
  private final ShardStore store;
  private final ShardId shard;
  private final List<byte[]> revisions = new ArrayList<>();

  /** Whether each revision changed bytes that the one before had. */
  private final List<Boolean> alters = new ArrayList<>();

  private int folded;

  ShardHistory(ShardStore store, ShardId shard, byte[] original) throws ShardException {
    this.store = store;
    this.shard = shard;
    revisions.add(original);
    alters.add(false);
    Answer<DriveId> answer = new Answer<>();
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, original), answer);
    answer.await();
  }

  byte[] bytesOf(int revision) {
    return revisions.get(revision);
  }

  /** Writes fresh noise to the range, as the next revision or as another part of the last one. */
  void prepare(int revision, int offset, int length) throws ShardException {
    byte[] before = bytesOf(revision - 1);
    byte[] change = AbstractShardChangesContract.noise(revision * 31 + offset, length);
    ShardIntent.Target target =
        new ShardIntent.Target(
            shard,
            AbstractShardChangesContract.attempt(revision),
            view(revision - 1),
            before.length);
    Answer<DriveId> answer = new Answer<>();
    store.prepare(AbstractShardChangesContract.bytes(target, offset, change), answer);
    answer.await();
    if (revision == revisions.size()) {
      revisions.add(before);
      alters.add(false);
    }
    byte[] after =
        Arrays.copyOf(bytesOf(revision), Math.max(bytesOf(revision).length, offset + length));
    System.arraycopy(change, 0, after, offset, length);
    revisions.set(revision, after);
    alters.set(revision, alters.get(revision) || offset < before.length);
  }

  void foldAll() throws ShardException {
    List<FoldIntent> folds = new ArrayList<>();
    while (++folded < revisions.size()) {
      folds.add(
          new FoldIntent(shard, AbstractShardChangesContract.attempt(folded), folded, folded - 1));
    }
    folded--;
    Answer<DriveId> answer = new Answer<>();
    store.fold(folds, answer);
    answer.await();
  }

  /** Ranges of the last revision, and of others. */
  void assertReads(Random random) throws ShardException {
    int last = revisions.size() - 1;
    for (int revision = Math.max(0, last - 6); revision <= last; revision++) {
      byte[] expected = bytesOf(revision);
      int offset = random.nextInt(expected.length);
      int length = 1 + random.nextInt(expected.length - offset);
      Answer<ShardData> answer = new Answer<>();
      store.read(shard, view(revision), offset, length, answer);
      try {
        assertArrayEquals(
            Arrays.copyOfRange(expected, offset, offset + length),
            AbstractShardStoreContract.bytesOf(answer.await()),
            "revision " + revision + " of " + last + " at " + offset + "+" + length);
      } catch (ShardException e) {
        assertEquals(ShardFault.REVISION_GONE, e.fault(), e.getMessage());
        assertTrue(isAlteredBehind(revision), "nothing has altered revision " + revision);
      }
    }
  }

  /** Whole revisions that were altered may be gone, but never be other bytes. */
  void assertOldOrGone(int revision) {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard, view(revision), 0, bytesOf(revision).length, answer);
    try {
      assertArrayEquals(bytesOf(revision), AbstractShardStoreContract.bytesOf(answer.await()));
    } catch (ShardException e) {
      assertEquals(ShardFault.REVISION_GONE, e.fault());
    }
  }

  private boolean isAlteredBehind(int revision) {
    return alters.subList(revision + 1, folded + 1).contains(true);
  }

  /** Metadata is told late of folds: it names the last three as unfolded. */
  private ShardView view(int revision) {
    int known = Math.max(0, Math.min(revision, folded) - 3);
    List<CommittedAttempt> unfolded = new ArrayList<>();
    for (int each = known + 1; each <= revision; each++) {
      unfolded.add(new CommittedAttempt(AbstractShardChangesContract.attempt(each), each));
    }
    return new ShardView(revision, known, unfolded);
  }
}
