package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.read.ShardReader;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Shards that a simulation changes again and again, and plain arrays of what they have to be. */
final class SimulatedChanges {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final Profile PROFILE = new Profile(2, 2, 16 * 1024);
  private static final int SHARDS_MAX = 4;
  private static final int SHARD_BYTES_MAX = 14 * BLOCK;

  private final Random random;
  private final List<Shard> shards = new ArrayList<>();
  private long lastBlob;
  private long lastAttempt;

  /** What metadata would know of a shard, and its bytes at each revision. */
  private static final class Shard {
    final ShardId id;
    final List<byte[]> revisions = new ArrayList<>();
    final List<AttemptId> attempts = new ArrayList<>();
    final List<Boolean> alters = new ArrayList<>();
    final List<AttemptId> lost = new ArrayList<>();
    @Nullable Change open;
    int folded;
    int maybeFolded;
    boolean isWritten;
    boolean isDeleted;
    boolean isMaybeDeleted;
    boolean isBusy;

    Shard(ShardId id, byte[] original) {
      this.id = id;
      revisions.add(original);
    }

    int revision() {
      return revisions.size() - 1;
    }

    boolean isParity() {
      return id.slot() >= PROFILE.dataShards();
    }
  }

  /** An attempt that is not committed. */
  private record Change(AttemptId attempt, byte[] result, boolean alters, boolean isStored) {}

  SimulatedChanges(Random random) {
    this.random = random;
  }

  /** The next thing to do to some shard; null if there is nothing to do now. */
  @Nullable Planned plan(DriveCore core) {
    shards.removeIf(shard -> shard.isDeleted && random.nextInt(4) == 0);
    if (shards.size() < SHARDS_MAX && random.nextInt(3) == 0) {
      return new Writing();
    }
    List<Shard> ready = new ArrayList<>(shards);
    ready.removeIf(
        shard -> !shard.isWritten || shard.isDeleted || shard.isMaybeDeleted || shard.isBusy);
    if (ready.isEmpty()) {
      return null;
    }
    Shard shard = ready.get(random.nextInt(ready.size()));
    if (shard.open != null && random.nextInt(4) > 0) {
      settle(shard);
    }
    Planned next =
        switch (random.nextInt(10)) {
          case 0, 1, 2 -> shard.folded < shard.revision() ? new Folding(shard) : null;
          case 3 -> shard.lost.isEmpty() ? null : new Dropping(shard);
          case 4 -> random.nextInt(4) == 0 ? new Deleting(shard) : null;
          default -> shard.open == null ? new Preparing(shard, core) : null;
        };
    shard.isBusy = next != null;
    return next;
  }

  /** Everything that is cut into pieces is looked at. */
  void coalesce(DriveCore core, ExtentMerger coalescer) throws IOException {
    for (Shard shard : shards) {
      core.mergeCandidates().add(new MergeCandidates.Candidate(shard.id, 0, true));
    }
    try {
      boolean goesOn = coalescer.mergeOne();
      while (goesOn) {
        goesOn = coalescer.mergeOne();
      }
    } catch (ShardException e) {
      assertEquals(ShardFault.FULL, e.fault());
    }
  }

  void endRound() {
    shards.forEach(shard -> shard.isBusy = false);
  }

  /** Metadata commits what is stored; what may not be is given up. */
  private void settle(Shard shard) {
    Change change = shard.open;
    if (change == null) {
      return;
    }
    if (change.isStored() && shard.revision() - shard.folded < 6 && random.nextInt(5) > 0) {
      shard.revisions.add(change.result());
      shard.attempts.add(change.attempt());
      shard.alters.add(change.alters());
    } else {
      shard.lost.add(change.attempt());
    }
    shard.open = null;
  }

  /** What was not acknowledged before the power went is never committed. */
  void powerLost() {
    for (Shard shard : shards) {
      Change open = shard.open;
      if (open != null && !open.isStored()) {
        shard.lost.add(open.attempt());
        shard.open = null;
      }
    }
    shards.removeIf(shard -> !shard.isWritten);
  }

  void check(ShardReader reader) {
    for (Shard shard : shards) {
      if (shard.isWritten) {
        check(reader, shard, shard.revision(), true);
        check(reader, shard, random.nextInt(shard.revision() + 1), false);
        checkOpen(reader, shard);
      }
    }
  }

  /**
   * After damage of the log.
   *
   * @param held blobs of which the damaged batches had records: they may be lost, but never wrong
   * @param isNarrow whether no others may be lost
   */
  void checkDamaged(ShardReader reader, Set<BlobId> held, boolean isNarrow) {
    for (Shard shard : shards) {
      if (shard.isWritten && isNarrow && !held.contains(shard.id.blob())) {
        check(reader, shard, shard.revision(), true);
        checkOpen(reader, shard);
      } else if (shard.isWritten) {
        for (int revision = 0; revision <= shard.revision(); revision++) {
          checkRightIfThere(reader, shard, view(shard, revision), shard.revisions.get(revision));
        }
      }
    }
  }

  private static void checkRightIfThere(
      ShardReader reader, Shard shard, ShardView view, byte[] expected) {
    for (int from = 0; from < expected.length; from += BLOCK) {
      int length = Math.min(BLOCK, expected.length - from);
      byte[] found;
      try {
        found = read(reader, shard, view, from, length);
      } catch (ShardException e) {
        continue; // lost, which is known then
      }
      byte[] right = Arrays.copyOfRange(expected, from, from + length);
      assertArrayEquals(right, found, shard.id + " " + view + " at " + from);
    }
  }

  private void check(ShardReader reader, Shard shard, int revision, boolean isWhole) {
    byte[] bytes = shard.revisions.get(revision);
    int offset = isWhole ? 0 : random.nextInt(bytes.length);
    int length = isWhole ? bytes.length : 1 + random.nextInt(bytes.length - offset);
    ShardView view = view(shard, revision);
    String what = shard.id + " " + view + " at " + offset + "+" + length;
    try {
      byte[] found = read(reader, shard, view, offset, length);
      assertTrue(!shard.isDeleted, () -> what + " came back from the dead");
      assertArrayEquals(Arrays.copyOfRange(bytes, offset, offset + length), found, what);
    } catch (ShardException e) {
      if (shard.isDeleted) {
        assertEquals(ShardFault.MISSING, e.fault(), what);
      } else if (!shard.isMaybeDeleted || e.fault() != ShardFault.MISSING) {
        assertEquals(ShardFault.REVISION_GONE, e.fault(), what + ": " + e.getMessage());
        assertTrue(
            shard.alters.subList(revision, shard.maybeFolded).contains(true),
            what + " is gone, but nothing has altered it");
      }
    }
  }

  /** What is stored is there for views that name it; what was never stored is for nobody. */
  private void checkOpen(ShardReader reader, Shard shard) {
    Change open = shard.open;
    if (shard.isDeleted || shard.isMaybeDeleted) {
      return;
    }
    if (open != null && open.isStored()) {
      ShardView view = viewBehind(shard, open.attempt());
      try {
        byte[] found = read(reader, shard, view, 0, open.result().length);
        assertArrayEquals(open.result(), found, shard.id + " " + view);
      } catch (ShardException e) {
        throw new AssertionError(shard.id + " " + view + ": " + e.getMessage(), e);
      }
    }
    ShardView unknown = viewBehind(shard, new AttemptId(9, 9));
    try {
      read(reader, shard, unknown, 0, 1);
      throw new AssertionError(shard.id + " shows what it never had");
    } catch (ShardException e) {
      assertEquals(ShardFault.MISSING, e.fault());
    }
  }

  private static byte[] read(
      ShardReader reader, Shard shard, ShardView view, int offset, int length)
      throws ShardException {
    return AbstractShardStoreContract.bytesOf(
        reader.read(new ShardRange(shard.id, view, offset, length)));
  }

  /** Metadata may not have heard yet of all that is folded. */
  private ShardView view(Shard shard, int revision) {
    int known = random.nextInt(Math.min(shard.folded, revision) + 1);
    List<CommittedAttempt> unfolded = new ArrayList<>();
    for (int each = known + 1; each <= revision; each++) {
      unfolded.add(new CommittedAttempt(shard.attempts.get(each - 1), each));
    }
    return new ShardView(revision, known, unfolded);
  }

  private ShardView viewBehind(Shard shard, AttemptId attempt) {
    ShardView view = view(shard, shard.revision());
    List<CommittedAttempt> unfolded = new ArrayList<>(view.unfolded());
    unfolded.add(new CommittedAttempt(attempt, view.revision() + 1));
    return new ShardView(view.revision() + 1, view.folded(), unfolded);
  }

  private byte[] noise(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A shard's original bytes. */
  private final class Writing implements Planned {
    private final Shard shard;
    private final LogRequest request;

    Writing() {
      shard =
          new Shard(
              new ShardId(new BlobId(2, ++lastBlob), random.nextInt(4)),
              noise(1 + random.nextInt(random.nextBoolean() ? BLOCK : 6 * BLOCK)));
      request =
          new LogRequest.Write(
              AbstractShardStoreContract.shardWrite(shard.id, 0, shard.revisions.getFirst()),
              new Answer<>());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      shards.add(shard);
    }

    @Override
    public void ended(boolean isAcknowledged) {
      shard.isWritten = isAcknowledged;
      if (!isAcknowledged) {
        shards.remove(shard);
      }
    }
  }

  /** An attempt to change a range. */
  private final class Preparing implements Planned {
    private final Shard shard;
    private final Change change;
    private final LogRequest request;

    Preparing(Shard shard, DriveCore core) {
      this.shard = shard;
      byte[] before = shard.revisions.getLast();
      int unit = random.nextInt(3) == 0 ? BLOCK : 1;
      int offset =
          random.nextInt(3) == 0 ? before.length : random.nextInt(before.length) / unit * unit;
      int room = SHARD_BYTES_MAX - offset;
      int wanted = 1 + random.nextInt(random.nextBoolean() ? 300 : 4 * BLOCK);
      int length = Math.max(1, Math.min(Math.ceilDiv(wanted, unit) * unit, room));
      byte[] bytes = noise(length);
      ShardIntent.Target target =
          new ShardIntent.Target(
              shard.id,
              new AttemptId(3, ++lastAttempt),
              view(shard, shard.revision()),
              before.length);
      byte[] after = Arrays.copyOf(before, Math.max(before.length, offset + length));
      ShardIntent intent;
      if (shard.isParity()) {
        int dataShard = random.nextInt(PROFILE.dataShards());
        ShardIntent.Delta delta = AbstractShardChangesContract.delta(dataShard, offset, bytes);
        intent = new ShardIntent.Deltas(target, PROFILE, List.of(delta));
        addDelta(after, offset, dataShard, bytes);
      } else {
        intent = AbstractShardChangesContract.bytes(target, offset, bytes);
        System.arraycopy(bytes, 0, after, offset, length);
      }
      change = new Change(target.attempt(), after, offset < before.length, false);
      try {
        request = SimulatedCore.request(core.newIntentMaker(TestDrives::code), intent);
      } catch (ShardException e) {
        throw new AssertionError(target + ": " + e.getMessage(), e);
      }
    }

    private void addDelta(byte[] parity, int offset, int dataShard, byte[] delta) {
      ByteBuffer range = ByteBuffer.allocateDirect(delta.length).put(parity, offset, delta.length);
      TestDrives.code(PROFILE)
          .updateParity(
              dataShard,
              shard.id.slot() - PROFILE.dataShards(),
              ByteBuffer.allocateDirect(delta.length).put(delta).flip(),
              range.flip());
      range.get(0, parity, offset, delta.length);
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      shard.open = change;
    }

    @Override
    public void ended(boolean isAcknowledged) {
      shard.open = new Change(change.attempt(), change.result(), change.alters(), isAcknowledged);
    }

    @Override
    public void forgotten() {
      request.completion().failed(new ShardException(ShardFault.UNAVAILABLE, "forgotten"));
    }
  }

  /** Some of the attempts that are committed, and perhaps some that were folded before. */
  private final class Folding implements Planned {
    private final Shard shard;
    private final int upTo;
    private final LogRequest.FoldAll request;

    Folding(Shard shard) {
      this.shard = shard;
      upTo = shard.folded + 1 + random.nextInt(shard.revision() - shard.folded);
      List<FoldIntent> folds = new ArrayList<>();
      int from = random.nextInt(3) == 0 ? 0 : shard.folded;
      for (int revision = from + 1; revision <= upTo; revision++) {
        folds.add(
            new FoldIntent(shard.id, shard.attempts.get(revision - 1), revision, revision - 1));
      }
      request = new LogRequest.FoldAll(folds, new Answer<>());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      shard.maybeFolded = Math.max(shard.maybeFolded, upTo);
    }

    @Override
    public void ended(boolean isAcknowledged) {
      if (isAcknowledged) {
        assertEquals(List.of(), request.missing());
        shard.folded = upTo;
      }
    }
  }

  /** Attempts that were given up. */
  private static final class Dropping implements Planned {
    private final LogRequest request;

    Dropping(Shard shard) {
      request =
          new LogRequest.DiscardAll(
              shard.lost.stream()
                  .map(attempt -> new DiscardIntent(shard.id.blob(), attempt))
                  .toList(),
              new Answer<>());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {}

    @Override
    public void ended(boolean isAcknowledged) {}
  }

  private static final class Deleting implements Planned {
    private final Shard shard;
    private final LogRequest request;

    Deleting(Shard shard) {
      this.shard = shard;
      request = new LogRequest.Delete(List.of(shard.id.blob()), new Answer<>());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      shard.isMaybeDeleted = true;
    }

    @Override
    public void ended(boolean isAcknowledged) {
      shard.isDeleted = isAcknowledged;
      shard.isMaybeDeleted = false;
    }
  }
}
