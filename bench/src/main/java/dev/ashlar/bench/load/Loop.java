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

/** The connections of one event loop, in one run. All of it happens on that loop's thread. */
final class Loop implements LoadConnection.Owner {
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

  /** Makes a connection that tells its loop what it hears. */
  interface ConnectionFactory {
    LoadConnection make(int number, LoadConnection.Owner owner);
  }

  private final EventLoop executor;
  private final Bootstrap bootstrap;
  private final Work work;
  private final Pace pace;
  private final Window window;
  private final Tally tally = new Tally();
  private final CompletableFuture<Tally> result = new CompletableFuture<>();
  private final Deque<LoadConnection> idle = new ArrayDeque<>();
  private final Map<Integer, LoadConnection> connections = new TreeMap<>();
  private final ConnectionFactory factory;
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
      ConnectionFactory factory,
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

  /** Connects the connections of these numbers and goes to work. */
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
      LoadConnection connection = idle.removeFirst();
      Operation operation = work.next(connection.number());
      if (operation == null) {
        isExhausted = true;
        break;
      }
      busy++;
      connection.send(operation, pace.take(now));
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
      Operation operation = work.next(connections.keySet().iterator().next());
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
    connections.values().forEach(connection -> connection.close("the run has ended"));
    if (failure == null) {
      result.complete(tally);
    } else {
      result.completeExceptionally(failure);
    }
  }

  @Override
  public void connected(LoadConnection connection) {
    connectFailures = 0;
    goOn(connection);
  }

  @Override
  public void lost(LoadConnection connection) {
    idle.remove(connection);
    connect(connection.number());
  }

  private void goOn(LoadConnection connection) {
    if (connection.isOpen()) {
      idle.addLast(connection);
    }
    sendWhatIsDue();
  }

  @Override
  public void ended(
      LoadConnection connection,
      LoadConnection.Flight flight,
      @Nullable String error,
      LoadConnection.End end) {
    long now = System.nanoTime();
    Operation operation = flight.operation();
    busy--;
    if (end != LoadConnection.End.LOST) {
      tally.answered(operation.kind());
    }
    if (window.holds(now)) {
      tally.ended(operation, error);
    }
    if (error == null && window.holdsLatency(flight.fromNanos(), now)) {
      tally.took(operation.kind(), now - flight.fromNanos());
    }
    work.ended(connection.number(), operation, error == null);
    if (isClosing) {
      return;
    }
    if (end != LoadConnection.End.ANSWERED) {
      connect(connection.number());
      finishIfOver();
    } else if (error == null) {
      idle.addLast(connection);
      sendWhatIsDue();
    } else {
      later(PAUSE_AFTER_ERROR_MILLIS, () -> goOn(connection));
    }
  }

  private void connect(int number) {
    if (isClosing) {
      return;
    }
    LoadConnection connection = factory.make(number, this);
    connections.put(number, connection);
    Bootstrap own =
        bootstrap
            .clone(executor)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(connection);
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
    for (LoadConnection connection : List.copyOf(connections.values())) {
      if (connection.isBusySince(before)) {
        connection.close("no answer within 60 s");
      }
    }
    sendWhatIsDue();
  }

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
