package dev.ashlar.blob.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.DriveLatency;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Reads and changes against a plain array, on drives of which some fail and all answer when they
 * like. Runs and the first seed are set with {@code -Dashlar.lateness.runs} and {@code
 * -Dashlar.lateness.seed}; how answers and hedges race is not in a seed's power.
 */
class RandomLatenessTest {
  private static final List<Profile> PROFILES =
      List.of(
          Profile.parse("4+2", 4096),
          Profile.parse("2+2", 8192),
          Profile.parse("3+1", 4096),
          Profile.parse("1+2", 8192),
          Profile.parse("6+3", 4096));
  private static final ShardFault[] FAULTS = {
    ShardFault.MISSING, ShardFault.CORRUPT, ShardFault.IO_ERROR, ShardFault.UNAVAILABLE
  };
  private static final int ROUNDS = 12;

  @Test
  @Timeout(300)
  void bytesAreRightWhicheverDriveAnswersFirst() throws Exception {
    int runs = Integer.getInteger("ashlar.lateness.runs", 40);
    long first = Long.getLong("ashlar.lateness.seed", System.nanoTime());
    HedgeConfig config = new HedgeConfig(100, Duration.ofNanos(200_000));
    try (Hedging hedging = new Hedging(config, System::nanoTime);
        ScheduledExecutorService late = Executors.newScheduledThreadPool(1)) {
      hedging.start();
      long won = 0;
      for (long seed = first; seed < first + runs; seed++) {
        Run run = new Run(seed, hedging, late);
        try {
          won += run.go();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("-Dashlar.lateness.seed=" + seed + ", " + run.state(), e);
        }
      }
      assertTrue(won > 0, "no hedge won");
    }
  }

  private static final class Run {
    private final Random random;
    private final ChangeFixture engine;
    private final List<HeldReads> drives = new ArrayList<>();
    private final ScheduledExecutorService late;
    private long roundNanos = System.nanoTime();

    /**
     * @param late gives the late answers; others may keep a shared executor busy beyond the
     *     deadline of a read
     */
    Run(long seed, Hedging hedging, ScheduledExecutorService late) throws Exception {
      this.late = late;
      random = new Random(seed);
      Profile profile = PROFILES.get(random.nextInt(PROFILES.size()));
      EngineConfig config =
          new EngineConfig(
              3 * profile.stripeBytes(), 2, 7L * profile.stripeBytes(), Duration.ofSeconds(20));
      engine = new ChangeFixture(profile, config, hedging);
      for (int slot = 0; slot < profile.shards(); slot++) {
        HeldReads drive = new HeldReads(engine.drives.get(slot));
        drive.answerBy(this::answer);
        drives.add(drive);
        engine.reachThrough(slot, drive);
        for (int i = 0; i < DriveLatency.WARM_READS; i++) {
          hedging.drive(drive.drive().id()).record(1);
        }
      }
    }

    private void answer(Runnable answer) {
      if (random.nextInt(3) > 0) {
        answer.run();
      } else {
        var unused = late.schedule(answer, random.nextInt(2000), TimeUnit.MICROSECONDS);
      }
    }

    /** How many hedges won. */
    long go() throws Exception {
      engine.put(EngineFixture.bytes(random, length()));
      for (int i = 0; i < ROUNDS; i++) {
        failSome();
        change();
        if (random.nextInt(3) == 0) {
          engine.foldAll();
        }
        engine.assertContent("round " + i);
        int from = random.nextInt(engine.expected.length);
        int to = from + 1 + random.nextInt(engine.expected.length - from);
        assertArrayEquals(
            Arrays.copyOfRange(engine.expected, from, to),
            engine.get(engine.object(), new ByteRange(from, to - from)),
            "round " + i);
      }
      while (engine.pool.lentBytes() > 0) {
        Thread.sleep(1); // answers that nobody waits for
      }
      engine.assertNothingHeld();
      return engine.count("ashlar.blob.hedges.won");
    }

    /** What is of interest when it fails. */
    String state() throws Exception {
      return "%s, faults %s, debts %s, %d ms since the round began"
          .formatted(
              engine.profile,
              drives.stream().map(drive -> drive.drive() + " " + drive.fault).toList(),
              engine.metadata.debts(),
              TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - roundNanos));
    }

    private void failSome() {
      roundNanos = System.nanoTime();
      Collections.shuffle(drives, random);
      int failing = random.nextInt(engine.profile.parityShards() + 1);
      for (int i = 0; i < drives.size(); i++) {
        drives.get(i).fault = i < failing ? FAULTS[random.nextInt(FAULTS.length)] : null;
      }
    }

    private void change() throws Exception {
      byte[] bytes = EngineFixture.bytes(random, length());
      int offset = random.nextInt(engine.expected.length + 1);
      assertEquals(ResultCode.OK, engine.change(offset, bytes).getCode());
    }

    private int length() {
      return switch (random.nextInt(3)) {
        case 0 -> 1 + random.nextInt(4100);
        case 1 -> 1 + random.nextInt(2 * engine.profile.stripeUnit());
        default -> 1 + random.nextInt(5 * engine.profile.stripeBytes());
      };
    }
  }
}
