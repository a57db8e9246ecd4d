package dev.ashlar.transport.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What an idle connection costs, on a clock of the test. */
class HeartbeatTest {
  private static final long BEAT_MILLIS = 1000;
  private static final Duration SILENCE_MAX = Duration.ofSeconds(12);
  private static final int BEATS_PER_PING = 3;

  /** Counts the checks for overdue requests. */
  private static final class End implements FrameHandler {
    int ticks;
    final EmbeddedChannel channel = new EmbeddedChannel();

    End() {
      FrameTimes times =
          new FrameTimes(Duration.ofMinutes(1), Duration.ofMillis(BEAT_MILLIS), SILENCE_MAX);
      FrameConnection frames = new FrameConnection(this, times);
      channel.freezeTime();
      channel.pipeline().addLast(frames);
      frames.established();
    }

    void beat() {
      channel.advanceTimeBy(BEAT_MILLIS, TimeUnit.MILLISECONDS);
      channel.runPendingTasks();
      channel.runPendingTasks(); // the beat only schedules what it sends
    }

    /** Passes on what it has sent; returns how many frames these were. */
    int deliverTo(End other) {
      int frames = 0;
      for (ByteBuf frame = channel.readOutbound(); frame != null; frame = channel.readOutbound()) {
        frames++;
        other.channel.writeInbound(frame);
      }
      return frames;
    }

    @Override
    public void connected() {}

    @Override
    public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) {
      return null;
    }

    @Override
    public void arrived(FrameHeader header, Message message) {
      throw new IllegalStateException("nothing is asked here: " + message);
    }

    @Override
    public void tick() {
      ticks++;
    }

    @Override
    public void closed(IOException why) {}
  }

  @Test
  void requestsAreCheckedAtEveryBeatAndPingsAreSentAtFewOfThem() {
    End one = new End();
    End other = new End();
    int pings = 0;
    int pongs = 0;
    for (int beat = 0; beat < 4 * BEATS_PER_PING; beat++) {
      one.beat();
      pings += one.deliverTo(other);
      pongs += other.deliverTo(one);
    }
    assertEquals(4 * BEATS_PER_PING, one.ticks);
    assertEquals(4, pings);
    assertEquals(4, pongs);
    one.channel.finishAndReleaseAll();
    other.channel.finishAndReleaseAll();
  }

  @Test
  void aPingThatIsNotAnsweredIsFollowedByNone() {
    End one = new End();
    End other = new End();
    for (int beat = 0; beat < 2 * BEATS_PER_PING; beat++) {
      one.beat();
    }
    assertEquals(1, one.deliverTo(other));
    assertEquals(1, other.deliverTo(one));
    for (int beat = 0; beat < BEATS_PER_PING; beat++) {
      one.beat();
    }
    assertEquals(1, one.deliverTo(other));
    assertFalse(one.channel.outboundMessages().iterator().hasNext());
    one.channel.finishAndReleaseAll();
    other.channel.finishAndReleaseAll();
  }
}
