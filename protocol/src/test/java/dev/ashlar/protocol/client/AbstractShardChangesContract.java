package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What every {@link ShardStore} does with changes of data that is there. */
public abstract class AbstractShardChangesContract extends AbstractFreshShardStore {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final Profile PROFILE = new Profile(2, 1, 4 * BLOCK);
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);
  private static final ShardId PARITY = new ShardId(new BlobId(7, 1), 2);

  @Test
  void anIntentIsSeenOnlyByViewsThatNameIt() throws Exception {
    ShardHistory shard = written(3 * BLOCK);
    shard.prepare(1, BLOCK, BLOCK);
    assertArrayEquals(shard.bytesOf(0), read(SHARD, ShardView.ORIGINAL, 0, 3 * BLOCK));
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 0, 1), 0, 3 * BLOCK));
    assertArrayEquals(
        Arrays.copyOfRange(shard.bytesOf(1), BLOCK - 3, 2 * BLOCK + 5),
        read(SHARD, view(1, 0, 1), BLOCK - 3, BLOCK + 8));
  }

  @Test
  void whatIsFoldedIsSeenHoweverItIsNamed() throws Exception {
    ShardHistory shard = written(3 * BLOCK);
    shard.prepare(1, BLOCK, BLOCK);
    fold(SHARD, 1);
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 0, 1), 0, 3 * BLOCK));
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 1), 0, 3 * BLOCK));
    shard.assertOldOrGone(0);
    assertArrayEquals(
        Arrays.copyOf(shard.bytesOf(0), BLOCK), read(SHARD, ShardView.ORIGINAL, 0, BLOCK));
  }

  @Test
  void growthLeavesOlderViewsAsTheyAre() throws Exception {
    ShardHistory shard = written(100);
    shard.prepare(1, 100, 300);
    shard.prepare(2, 400, 2 * BLOCK);
    for (int folded = 1; folded <= 2; folded++) {
      fold(SHARD, folded);
      assertArrayEquals(shard.bytesOf(0), read(SHARD, ShardView.ORIGINAL, 0, 100));
      assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 0, 1), 0, 400));
      assertArrayEquals(shard.bytesOf(2), read(SHARD, view(2, 0, 1, 2), 0, 400 + 2 * BLOCK));
    }
    shard.prepare(3, 0, 50);
    fold(SHARD, 3);
    shard.assertOldOrGone(0);
    shard.assertOldOrGone(2);
    assertArrayEquals(
        Arrays.copyOfRange(shard.bytesOf(2), BLOCK, 400 + 2 * BLOCK),
        read(SHARD, view(2, 2), BLOCK, 400 + BLOCK));
  }

  @Test
  void alterationIsNotForgottenByGrowth() throws Exception {
    ShardHistory shard = written(100);
    shard.prepare(1, 10, 20);
    shard.prepare(2, 100, 20);
    fold(SHARD, 1, 2);
    shard.assertOldOrGone(0);
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 1), 0, 100));
  }

  @Test
  void aViewOfWhatIsNotHereIsMissing() throws Exception {
    ShardHistory shard = written(3 * BLOCK);
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(1, 0, 1), 0, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(1, 1), 0, 1));
    shard.prepare(1, 0, BLOCK);
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(2, 0, 1, 2), 2 * BLOCK, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(1, 1), 2 * BLOCK, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(1, 0, 1), 0, 3 * BLOCK + 1));
    ShardIntent blind =
        bytes(new ShardIntent.Target(SHARD, attempt(3), view(2, 0, 2), BLOCK), 0, noise(3, BLOCK));
    assertEquals(ShardFault.MISSING, prepare(blind).awaitFault());
    ShardIntent onNothing =
        bytes(new ShardIntent.Target(PARITY, attempt(3), ShardView.ORIGINAL, 9), 3, noise(3, 2));
    assertEquals(ShardFault.MISSING, prepare(onNothing).awaitFault());
  }

  @Test
  void foldsAreIdempotentAndNeedTheirIntents() throws Exception {
    ShardHistory shard = written(BLOCK);
    assertEquals(ShardFault.MISSING, foldFault(SHARD, 1));
    shard.prepare(1, 0, BLOCK);
    shard.prepare(2, 10, 10);
    assertEquals(ShardFault.MISSING, foldFault(SHARD, 2), "it was made from revision 1");
    Answer<DriveId> answer = new Answer<>();
    store.fold(
        List.of(new FoldIntent(PARITY, attempt(1), 1, 0), new FoldIntent(SHARD, attempt(1), 1, 0)),
        answer);
    assertEquals(ShardFault.MISSING, answer.awaitFault());
    fold(SHARD, 1, 2);
    fold(SHARD, 2, 1);
    assertArrayEquals(shard.bytesOf(2), read(SHARD, view(2, 2), 0, BLOCK));
  }

  /** Also when it was made from the same state: else what is between would count as folded. */
  @Test
  void aFoldDoesNotPassOverTheRevisionBeforeIt() throws Exception {
    put(SHARD, noise(1, 2 * BLOCK));
    for (int revision = 1; revision <= 2; revision++) {
      ShardIntent.Target target =
          new ShardIntent.Target(SHARD, attempt(revision), ShardView.ORIGINAL, 2 * BLOCK);
      prepare(bytes(target, (revision - 1L) * BLOCK, noise(10 + revision, BLOCK))).await();
    }
    assertEquals(ShardFault.MISSING, foldFault(SHARD, 2));
    assertArrayEquals(noise(11, BLOCK), read(SHARD, view(2, 0, 1, 2), 0, BLOCK));
    assertArrayEquals(noise(12, BLOCK), read(SHARD, view(2, 0, 1, 2), BLOCK, BLOCK));
    fold(SHARD, 1, 2);
    assertArrayEquals(noise(11, BLOCK), read(SHARD, view(2, 2), 0, BLOCK));
    assertArrayEquals(noise(12, BLOCK), read(SHARD, view(2, 2), BLOCK, BLOCK));
  }

  @Test
  void whatIsDroppedIsGoneUnlessItWasFolded() throws Exception {
    ShardHistory shard = written(BLOCK);
    drop(1);
    shard.prepare(1, 0, 10);
    fold(SHARD, 1);
    shard.prepare(2, 5, 10);
    assertEquals(List.of("7-1 4+2"), attemptsBelow(5));
    assertEquals(List.of(), attemptsBelow(4));
    drop(1);
    drop(2);
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 1), 0, BLOCK));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(2, 1, 2), 0, 1));
    assertEquals(ShardFault.MISSING, foldFault(SHARD, 2));
    assertEquals(List.of(), attemptsBelow(5));
  }

  @Test
  void attemptsAreListedInPages() throws Exception {
    List<DiscardIntent> expected = new ArrayList<>();
    for (int sequence = 1; sequence <= 2; sequence++) {
      for (int slot = 1; slot >= 0; slot--) {
        ShardId shard = new ShardId(new BlobId(7, sequence), slot);
        for (int attempt = 1; attempt <= 2; attempt++) {
          AttemptId id = new AttemptId(4, attempt + slot);
          ShardIntent.Target target = new ShardIntent.Target(shard, id, ShardView.ORIGINAL, 0);
          prepare(bytes(target, 0, noise(1, 10))).await();
          expected.add(new DiscardIntent(shard.blob(), id));
        }
      }
    }
    List<DiscardIntent> all = expected.stream().distinct().sorted().toList();
    assertEquals(6, all.size());
    for (int max = 1; max <= 7; max++) {
      List<DiscardIntent> seen = new ArrayList<>();
      List<DiscardIntent> page = store.attemptsBelow(5, null, max);
      while (!page.isEmpty()) {
        seen.addAll(page);
        page = store.attemptsBelow(5, page.getLast(), max);
      }
      assertEquals(all, seen, "in pages of " + max);
    }
    assertEquals(List.of(), store.attemptsBelow(4, null, 7));
  }

  @Test
  void anAttemptMaySendSeveralIntents() throws Exception {
    ShardHistory shard = written(8 * BLOCK);
    shard.prepare(1, 0, 10);
    shard.prepare(1, 2 * BLOCK, BLOCK);
    shard.prepare(1, 6 * BLOCK + 1, BLOCK);
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 0, 1), 0, 8 * BLOCK));
    fold(SHARD, 1);
    assertArrayEquals(shard.bytesOf(1), read(SHARD, view(1, 1), 0, 8 * BLOCK));
  }

  @Test
  void deletedBlobsLoseTheirChanges() throws Exception {
    ShardHistory shard = written(BLOCK);
    shard.prepare(1, 0, 2 * BLOCK);
    fold(SHARD, 1);
    shard.prepare(2, 0, 10);
    Answer<DriveId> answer = new Answer<>();
    store.delete(List.of(SHARD.blob()), answer);
    answer.await();
    assertEquals(ShardFault.MISSING, readFault(SHARD, ShardView.ORIGINAL, 0, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(1, 1), BLOCK, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, view(2, 0, 2), 0, 1));
    assertEquals(List.of(), attemptsBelow(5));
  }

  @Test
  void deltasAreAddedToWhatTheParityWas() throws Exception {
    byte[] parity = noise(9, BLOCK + 100);
    put(PARITY, parity);
    byte[] first = noise(1, BLOCK);
    byte[] second = noise(2, 3 * BLOCK);
    prepare(
            deltas(
                new ShardIntent.Target(PARITY, attempt(1), ShardView.ORIGINAL, parity.length),
                delta(0, 50, first),
                delta(1, BLOCK - 7, second)))
        .await();
    byte[] expected = Arrays.copyOf(parity, 4 * BLOCK - 7);
    xor(expected, 50, first);
    xor(expected, BLOCK - 7, second);
    assertArrayEquals(expected, read(PARITY, view(1, 0, 1), 0, expected.length));
    fold(PARITY, 1);
    assertArrayEquals(expected, read(PARITY, view(1, 1), 0, expected.length));
  }

  @Test
  void beyondTheBaseLengthDeltasAddToZeroWhateverIsThere() throws Exception {
    put(PARITY, noise(9, 3 * BLOCK));
    byte[] change = noise(1, 2 * BLOCK);
    prepare(
            deltas(
                new ShardIntent.Target(PARITY, attempt(1), ShardView.ORIGINAL, BLOCK + 10),
                delta(1, BLOCK, change)))
        .await();
    byte[] expected = new byte[2 * BLOCK];
    System.arraycopy(noise(9, 3 * BLOCK), BLOCK, expected, 0, 10);
    xor(expected, 0, change);
    assertArrayEquals(expected, read(PARITY, view(1, 0, 1), BLOCK, 2 * BLOCK));
    ShardId fresh = new ShardId(new BlobId(7, 2), 2);
    prepare(
            deltas(
                new ShardIntent.Target(fresh, attempt(1), ShardView.ORIGINAL, 0),
                delta(0, 0, change)))
        .await();
    assertArrayEquals(change, read(fresh, view(1, 0, 1), 0, 2 * BLOCK));
  }

  @Test
  void bytesThatDoNotMatchTheirChecksumsAreRefused() throws Exception {
    put(PARITY, noise(9, BLOCK));
    ShardIntent.Delta good = delta(0, 10, noise(1, 20));
    ShardIntent.Target target =
        new ShardIntent.Target(PARITY, attempt(1), ShardView.ORIGINAL, BLOCK);
    int[] wrong = {good.crcs()[0] ^ 1};
    ShardIntent.Delta bad = new ShardIntent.Delta(0, 10, good.bytes(), wrong);
    assertEquals(ShardFault.CORRUPT, prepare(deltas(target, bad)).awaitFault());
    assertEquals(
        ShardFault.CORRUPT,
        prepare(new ShardIntent.Bytes(target, 10, good.bytes(), wrong)).awaitFault());
    assertEquals(ShardFault.MISSING, readFault(PARITY, view(1, 0, 1), 0, 1));
  }

  @Test
  void anyRowOfChangesReadsAsAPlainArray() throws Exception {
    for (int seed = 1; seed <= 15; seed++) {
      Random random = new Random(seed);
      ShardHistory shard =
          new ShardHistory(store, new ShardId(new BlobId(8, seed), 0), noise(seed, 1 + seed * 700));
      for (int revision = 1; revision <= 20; revision++) {
        int length = shard.bytesOf(revision - 1).length;
        int offset = random.nextInt(3) == 0 ? length : random.nextInt(length);
        shard.prepare(revision, offset, 1 + random.nextInt(random.nextBoolean() ? 300 : 9000));
        if (random.nextInt(4) == 0) {
          shard.foldAll();
        }
        shard.assertReads(random);
      }
    }
  }

  private ShardHistory written(int length) throws ShardException {
    return new ShardHistory(store, SHARD, noise(length, length));
  }

  private void put(ShardId shard, byte[] bytes) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, bytes), answer);
    answer.await();
  }

  private byte[] read(ShardId shard, ShardView view, long offset, int length)
      throws ShardException {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard, view, offset, length, answer);
    return AbstractShardStoreContract.bytesOf(answer.await());
  }

  private ShardFault readFault(ShardId shard, ShardView view, long offset, int length) {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard, view, offset, length, answer);
    return answer.awaitFault();
  }

  private Answer<DriveId> prepare(ShardIntent intent) {
    Answer<DriveId> answer = new Answer<>();
    store.prepare(intent, answer);
    return answer;
  }

  private Answer<DriveId> folding(ShardId shard, int... revisions) {
    List<FoldIntent> folds = new ArrayList<>();
    for (int revision : revisions) {
      folds.add(new FoldIntent(shard, attempt(revision), revision, revision - 1));
    }
    Answer<DriveId> answer = new Answer<>();
    store.fold(folds, answer);
    return answer;
  }

  private void fold(ShardId shard, int... revisions) throws ShardException {
    folding(shard, revisions).await();
  }

  private ShardFault foldFault(ShardId shard, int... revisions) {
    return folding(shard, revisions).awaitFault();
  }

  private void drop(int revision) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.drop(List.of(new DiscardIntent(SHARD.blob(), attempt(revision))), answer);
    answer.await();
  }

  private List<String> attemptsBelow(long session) throws ShardException {
    TreeSet<String> seen = new TreeSet<>();
    store.forEachAttemptBelow(session, (blob, attempt) -> seen.add(blob + " " + attempt));
    return List.copyOf(seen);
  }

  /** The attempt that makes this revision in these tests. */
  static AttemptId attempt(long revision) {
    return new AttemptId(4, revision);
  }

  private static ShardView view(long revision, long folded, long... unfolded) {
    List<CommittedAttempt> attempts = new ArrayList<>();
    for (long each : unfolded) {
      attempts.add(new CommittedAttempt(attempt(each), each));
    }
    return new ShardView(revision, folded, attempts);
  }

  /** New bytes with the right checksums. */
  public static ShardIntent.Bytes bytes(ShardIntent.Target target, long offset, byte[] bytes) {
    return new ShardIntent.Bytes(
        target, offset, AbstractShardStoreContract.direct(bytes), pieceCrcs(offset, bytes));
  }

  private static ShardIntent deltas(ShardIntent.Target target, ShardIntent.Delta... deltas) {
    return new ShardIntent.Deltas(target, PROFILE, List.of(deltas));
  }

  /** A change of a data shard with the right checksums. */
  public static ShardIntent.Delta delta(int dataShard, long offset, byte[] bytes) {
    return new ShardIntent.Delta(
        dataShard, offset, AbstractShardStoreContract.direct(bytes), pieceCrcs(offset, bytes));
  }

  /** The checksum of each piece of these bytes of a shard. */
  public static int[] pieceCrcs(long offset, byte[] bytes) {
    int[] crcs = new int[ShardIntent.pieces(offset, bytes.length)];
    int from = 0;
    for (int i = 0; i < crcs.length; i++) {
      int to = Math.min(bytes.length, (int) (BLOCK * (offset / BLOCK + i + 1) - offset));
      crcs[i] = AbstractShardStoreContract.crcs(Arrays.copyOfRange(bytes, from, to))[0];
      from = to;
    }
    return crcs;
  }

  private static void xor(byte[] bytes, int at, byte[] change) {
    for (int i = 0; i < change.length; i++) {
      bytes[at + i] ^= change[i];
    }
  }

  static byte[] noise(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
