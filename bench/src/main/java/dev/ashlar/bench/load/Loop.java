package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The lanes of one event loop, in one run. All of it happens on that loop's thread. */
final class Loop implements Lane.Owner {
  private static final long ANSWER_MAX_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long CHECK_SECONDS = 1;

  /** A server that refuses is not asked again at once. */
  private static final long PAUSE_AFTER_ERROR_MILLIS = 10;

  private static final int CONNECT_FAILURES_MAX = 50;
  private static final long RECONNECT_MILLIS = 100;

  /**
   * The time that counts.
   *
   * @param byIntention whether a latency belongs to it by when its request was meant to begin, not
   *     by when it ended
   */
  record Window(long fromNanos, long endNanos, boolean byIntention) {
    boolean holds(long nanos) {
      return nanos - fromNanos >= 0 && nanos - endNanos < 0;
    }

    boolean holdsLatency(long intendedNanos, long endedNanos) {
      return holds(byIntention ? intendedNanos : endedNanos);
    }
  }

  /** Makes a lane that tells its loop what it hears. */
  interface LaneFactory {
    Lane make(int number, Lane.Owner owner);
  }

  private final EventLoop executor;
  private final Bootstrap bootstrap;
  private final Work work;
  private final Pace pace;
  private final Window window;
  private final Tally tally = new Tally();
  private final CompletableFuture<Tally> result = new CompletableFuture<>();
  private final Deque<Lane> idle = new ArrayDeque<>();
  private final Map<Integer, Lane> lanes = new TreeMap<>();
  private final LaneFactory factory;
  private @Nullable ScheduledFuture<?> timer;
  private @Nullable ScheduledFuture<?> check;
  private int busy;
  private int connectFailures;
  private boolean isExhausted;
  private boolean isClosing;
  private boolean isBusyShareNoted;
  private long cpuAtFrom;

  Loop(
      EventLoop executor,
      Bootstrap bootstrap,
      LaneFactory factory,
      Work work,
      Pace pace,
      Window window) {
    this.executor = executor;
    this.bootstrap = bootstrap;
    this.factory = factory;
    this.work = work;
    this.pace = pace;
    this.window = window;
  }

  /** Connects the lanes of these numbers and goes to work. */
  CompletableFuture<Tally> start(List<Integer> numbers) {
    executor.execute(
        () -> {
          numbers.forEach(this::connect);
          check =
              executor.scheduleAtFixedRate(
                  this::dropSilent, CHECK_SECONDS, CHECK_SECONDS, TimeUnit.SECONDS);
          at(window.fromNanos(), () -> cpuAtFrom = threadCpuNanos());
          at(window.endNanos(), this::noteBusyShare);
        });
    return result;
  }

  // --- Pace -----------------------------------------------------------------------------------

  private void sendWhatIsDue() {
    while (!idle.isEmpty()) {
      long now = System.nanoTime();
      long wait = pace.untilNext(now);
      if (wait == Pace.OVER || isExhausted) {
        break;
      }
      if (wait > 0) {
        wakeIn(wait);
        return;
      }
      Lane lane = idle.removeFirst();
      Operation operation = work.next(lane.number());
      if (operation == null) {
        isExhausted = true;
        break;
      }
      busy++;
      lane.send(operation, pace.take(now));
    }
    finishIfOver();
  }

  private void wakeIn(long nanos) {
    if (timer == null) {
      timer = executor.schedule(this::wake, nanos, TimeUnit.NANOSECONDS);
    }
  }

  private void wake() {
    timer = null;
    sendWhatIsDue();
  }

  private void finishIfOver() {
    boolean isOver = isExhausted || pace.untilNext(System.nanoTime()) == Pace.OVER;
    if (!isOver || busy > 0 || isClosing) {
      return;
    }
    long now = System.nanoTime();
    while (pace.hasGivenUp()) {
      long intended = pace.take(now);
      Operation operation = work.next(lanes.keySet().iterator().next());
      if (operation != null && window.holds(intended)) {
        tally.unsent(operation.kind(), now - intended);
      }
    }
    finish(null);
  }

  private void finish(@Nullable BenchException failure) {
    isClosing = true;
    noteBusyShare();
    if (check != null) {
      check.cancel(false);
    }
    lanes.values().forEach(lane -> lane.close("the run has ended"));
    if (failure == null) {
      result.complete(tally);
    } else {
      result.completeExceptionally(failure);
    }
  }

  // --- Lanes ----------------------------------------------------------------------------------

  @Override
  public void connected(Lane lane) {
    connectFailures = 0;
    goOn(lane);
  }

  @Override
  public void lost(Lane lane) {
    idle.remove(lane);
    connect(lane.number());
  }

  private void goOn(Lane lane) {
    if (lane.isOpen()) {
      idle.addLast(lane);
    }
    sendWhatIsDue();
  }

  @Override
  public void ended(Lane lane, Lane.Flight flight, @Nullable String error, Lane.End end) {
    long now = System.nanoTime();
    Operation operation = flight.operation();
    busy--;
    if (end != Lane.End.LOST) {
      tally.answered(operation.kind());
    }
    if (window.holds(now)) {
      tally.ended(operation, error);
    }
    if (error == null && window.holdsLatency(flight.fromNanos(), now)) {
      tally.took(operation.kind(), now - flight.fromNanos());
    }
    work.ended(lane.number(), operation, error == null);
    if (isClosing) {
      return;
    }
    if (end != Lane.End.ANSWERED) {
      connect(lane.number());
      finishIfOver();
    } else if (error == null) {
      idle.addLast(lane);
      sendWhatIsDue();
    } else {
      later(PAUSE_AFTER_ERROR_MILLIS, () -> goOn(lane));
    }
  }

  private void connect(int number) {
    if (isClosing) {
      return;
    }
    Lane lane = factory.make(number, this);
    lanes.put(number, lane);
    Bootstrap own =
        bootstrap
            .clone(executor)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(lane);
                  }
                });
    own.connect()
        .addListener(
            attempt -> {
              if (!attempt.isSuccess()) {
                refused(number, attempt.cause());
              }
            });
  }

  private void refused(int number, Throwable cause) {
    connectFailures++;
    if (connectFailures > CONNECT_FAILURES_MAX && !isClosing) {
      finish(new BenchException("Cannot connect: " + cause.getMessage()));
    } else {
      later(RECONNECT_MILLIS, () -> connect(number));
    }
  }

  private void later(long millis, Runnable task) {
    var unused = executor.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  private void dropSilent() {
    long before = System.nanoTime() - ANSWER_MAX_NANOS;
    for (Lane lane : List.copyOf(lanes.values())) {
      if (lane.isBusySince(before)) {
        lane.close("no answer within 60 s");
      }
    }
    sendWhatIsDue();
  }

  // --- CPU ------------------------------------------------------------------------------------

  /** At the end of the measured time, or of the run where that comes first by a moment. */
  private void noteBusyShare() {
    if (!isBusyShareNoted) {
      isBusyShareNoted = true;
      long now = System.nanoTime();
      long end = now - window.endNanos() < 0 ? now : window.endNanos();
      double windowNanos = (double) Math.max(1, end - window.fromNanos());
      tally.busy((threadCpuNanos() - cpuAtFrom) / windowNanos);
    }
  }

  private void at(long nanos, Runnable task) {
    long delay = nanos - System.nanoTime();
    if (delay < TimeUnit.DAYS.toNanos(1)) {
      var unused = executor.schedule(task, Math.max(0, delay), TimeUnit.NANOSECONDS);
    }
  }

  private static long threadCpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
