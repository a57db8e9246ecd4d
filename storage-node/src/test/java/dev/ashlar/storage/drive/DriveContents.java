package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/** What was acknowledged of shards that were written, changed and deleted. For one thread. */
final class DriveContents {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final long DEADLINE_SECONDS = 60;

  private final long session;
  private final Random random;
  private final Map<Integer, Expected> shards = new TreeMap<>();
  private final Set<Integer> deleted = new TreeSet<>();
  private int last;

  private record Expected(byte[] bytes, ShardView view) {}

  DriveContents(long session, Random random) {
    this.session = session;
    this.random = random;
  }

  /** Writes another shard and, with some, does more; what is not acknowledged does not count. */
  void addOne(DriveStore store) throws ShardException {
    int number = addPlain(store, 1 + random.nextInt(3 * BLOCK));
    int kind = random.nextInt(5);
    if (kind == 1 || kind == 2) {
      change(store, number, kind == 2);
    } else if (kind == 3) {
      Expected before = shards.remove(number);
      try {
        ask(told -> store.delete(List.of(shard(number).blob()), told));
        deleted.add(number);
      } catch (ShardException e) {
        assertTrue(before != null, "it may be there or not");
        throw e;
      }
    }
  }

  /** Writes another shard of so many bytes. */
  int addPlain(DriveStore store, int length) throws ShardException {
    int number = ++last;
    byte[] bytes = noise(length);
    ask(told -> store.write(AbstractShardStoreContract.shardWrite(shard(number), 0, bytes), told));
    shards.put(number, new Expected(bytes, ShardView.ORIGINAL));
    return number;
  }

  private void change(DriveStore store, int number, boolean isFolded) throws ShardException {
    Expected before = Objects.requireNonNull(shards.get(number));
    AttemptId attempt = new AttemptId(session, number);
    int at = random.nextInt(before.bytes().length);
    byte[] change = noise(1 + random.nextInt(BLOCK));
    ShardIntent.Target target =
        new ShardIntent.Target(shard(number), attempt, ShardView.ORIGINAL, before.bytes().length);
    ask(told -> store.prepare(AbstractShardChangesContract.bytes(target, at, change), told));
    byte[] after =
        Arrays.copyOf(before.bytes(), Math.max(before.bytes().length, at + change.length));
    System.arraycopy(change, 0, after, at, change.length);
    ShardView unfolded = new ShardView(1, 0, List.of(new CommittedAttempt(attempt, 1)));
    shards.put(number, new Expected(after, unfolded));
    if (isFolded) {
      ask(told -> store.fold(List.of(new FoldIntent(shard(number), attempt, 1, 0)), told));
      shards.put(number, new Expected(after, new ShardView(1, 1, List.of())));
    }
  }

  void add(DriveStore store, int count) throws ShardException {
    for (int i = 0; i < count; i++) {
      addOne(store);
    }
  }

  /** Reads all; where the drive says that it cannot now, again until it can. */
  void check(DriveStore store, String what) throws InterruptedException {
    for (Map.Entry<Integer, Expected> each : shards.entrySet()) {
      Expected expected = each.getValue();
      try {
        byte[] got = read(store, each.getKey(), expected);
        assertArrayEquals(expected.bytes(), got, what);
      } catch (ShardException e) {
        throw new AssertionError(what + ": " + e + " with " + expected.view(), e);
      }
    }
    for (int number : deleted) {
      assertEquals(
          ShardFault.MISSING,
          faultOf(store, number, new Expected(new byte[1], ShardView.ORIGINAL)),
          what);
    }
  }

  int size() {
    return shards.size();
  }

  private byte[] read(DriveStore store, int number, Expected expected)
      throws ShardException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (true) {
      Answer<ShardData> answer = new Answer<>();
      store.read(shard(number), expected.view(), 0, expected.bytes().length, answer);
      try {
        return AbstractShardStoreContract.bytesOf(answer.await());
      } catch (ShardException e) {
        if (e.fault() != ShardFault.UNAVAILABLE || System.nanoTime() > deadline) {
          throw e;
        }
        Thread.sleep(5);
      }
    }
  }

  private ShardFault faultOf(DriveStore store, int number, Expected expected)
      throws InterruptedException {
    try {
      read(store, number, expected);
      throw new AssertionError("there again: " + shard(number));
    } catch (ShardException e) {
      return e.fault();
    }
  }

  private interface Asked {
    void tells(Completion<DriveId> told);
  }

  private static void ask(Asked asked) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    asked.tells(answer);
    answer.await();
  }

  private ShardId shard(int number) {
    return new ShardId(new BlobId(session, number), 0);
  }

  private byte[] noise(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
