package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of changes, reads, folds, losses and lost processes against a plain array. Runs
 * and the first seed are set with {@code -Dashlar.changes.runs} and {@code -Dashlar.changes.seed}.
 */
class RandomChangesTest {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("2+2", 4096),
          Profile.parse("2+2", 8192),
          Profile.parse("4+2", 8192),
          Profile.parse("3+1", 4096),
          Profile.parse("1+2", 8192),
          Profile.parse("3+3", 4096),
          Profile.parse("4+2", 16384),
          Profile.parse("2+0", 8192),
          Profile.parse("2+2,optimizations=off", 4096),
          Profile.parse("4+2,optimizations=off", 8192),
          Profile.parse("1+2,optimizations=off", 4096),
          Profile.parse("2+0,optimizations=off", 4096));
  private static final int STEPS = 40;

  @Test
  void anyHistoryReadsAsTheArray() throws Exception {
    int runs = Integer.getInteger("ashlar.changes.runs", 60);
    long first = Long.getLong("ashlar.changes.seed", System.nanoTime());
    for (long seed = first; seed < first + runs; seed++) {
      try {
        new Run(seed).go();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("-Dashlar.changes.seed=" + seed, e);
      }
    }
  }

  private static final class Run {
    private final Random random;
    private final Profile profile;
    private final ChangeFixture engine;
    private final List<ObjectChange> crashed = new ArrayList<>();
    private int copies;
    private int away = -1;
    private boolean mayLose;

    Run(long seed) throws Exception {
      random = new Random(seed);
      profile = PROFILES.get(random.nextInt(PROFILES.size()));
      engine = new ChangeFixture(profile);
      mayLose = profile.parityShards() > 1;
    }

    void go() throws Exception {
      engine.put(EngineFixture.bytes(random, length()));
      for (int i = 0; i < STEPS; i++) {
        step();
        readSome("step " + i);
      }
      comeBack();
      engine.assertContent("at the end");
      engine.foldAll();
      engine.assertContent("folded");
      if (engine.object().blobs().stream().allMatch(row -> row.getDebtSlotsCount() == 0)
          && engine.object().object().getSlicesCount() <= ObjectRead.BLOBS_MAX) {
        engine.assertEveryLossIsRebuilt("at rest");
      }
      crashed.forEach(ObjectChange::close);
      engine.assertNothingHeld();
    }

    private void step() throws Exception {
      switch (random.nextInt(20)) {
        case 0 -> engine.copyTo("copy" + copies++);
        case 1 -> crash();
        case 2, 3, 4 -> engine.foldAll();
        case 5 -> halfFold();
        case 6 -> lose();
        case 7 -> comeBack();
        case 8 -> race();
        case 9, 10, 11, 12 -> change(engine.expected.length);
        default -> change(random.nextInt(engine.expected.length + 1));
      }
    }

    private int length() {
      int unit = profile.stripeUnit();
      int stripe = profile.stripeBytes();
      return switch (random.nextInt(5)) {
        case 0 -> 1 + random.nextInt(4100);
        case 1 -> Math.max(1, unit * (1 + random.nextInt(3)) + random.nextInt(3) - 1);
        case 2 -> Math.max(1, stripe * (1 + random.nextInt(3)) + random.nextInt(3) - 1);
        case 3 -> 1 + random.nextInt(9 * stripe);
        default -> 1 + random.nextInt(2 * unit);
      };
    }

    private void change(int offset) throws Exception {
      byte[] bytes = EngineFixture.bytes(random, length());
      long hint =
          switch (random.nextInt(4)) {
            case 0 -> -1;
            case 1 -> random.nextInt(2 * bytes.length);
            default -> bytes.length;
          };
      int from = random.nextBoolean() ? offset : Math.min(offset, offset / 4096 * 4096);
      ResultCode code =
          engine.change(from, bytes, hint, 1 + random.nextInt(2 * bytes.length)).getCode();
      assertEquals(ResultCode.OK, code, "at " + from + " +" + bytes.length);
    }

    private void crash() throws Exception {
      int length = length();
      int offset = random.nextInt(engine.expected.length + 1);
      ObjectChange change = engine.store.newChange(engine.object(), offset, -1);
      change.write(ByteBuffer.wrap(EngineFixture.bytes(random, length)));
      crashed.add(change);
    }

    private void halfFold() throws Exception {
      int slot = random.nextInt(profile.shards());
      engine.drives.get(slot).failAll(ShardFault.OVERLOADED);
      engine.foldAll();
      engine.drives.get(slot).failAll(null);
    }

    /** Once: nothing repairs the debts it leaves. */
    private void lose() {
      if (mayLose) {
        mayLose = false;
        away = random.nextInt(profile.shards());
        engine.setReachable(away, false);
      }
    }

    private void comeBack() {
      if (away >= 0) {
        engine.setReachable(away, true);
        away = -1;
      }
    }

    private void race() throws Exception {
      int offset = random.nextInt(engine.expected.length + 1);
      byte[] mine = EngineFixture.bytes(random, length());
      try (ObjectChange slow = engine.store.newChange(engine.object(), offset, mine.length)) {
        slow.write(ByteBuffer.wrap(mine));
        change(random.nextInt(engine.expected.length + 1));
        if (random.nextBoolean()) {
          engine.foldAll();
        }
        ResultCode code;
        try {
          code = slow.commit(ChangeFixture.command()).getCode();
        } catch (DataUnavailableException e) {
          assertEquals(DataUnavailableException.Reason.CONFLICT, e.reason());
          code = ResultCode.CONDITIONAL_CONFLICT;
        }
        if (code == ResultCode.OK) {
          engine.expect(offset, mine);
        } else {
          assertTrue(mine.length > profile.stripeBytes(), "small changes are tried again");
          assertEquals(ResultCode.CONDITIONAL_CONFLICT, code);
        }
      }
    }

    private void readSome(String message) throws Exception {
      engine.assertContent(message);
      int from = random.nextInt(engine.expected.length);
      int to = from + 1 + random.nextInt(engine.expected.length - from);
      assertArrayEquals(
          Arrays.copyOfRange(engine.expected, from, to),
          engine.get(engine.object(), new ByteRange(from, to - from)),
          message);
    }
  }
}
