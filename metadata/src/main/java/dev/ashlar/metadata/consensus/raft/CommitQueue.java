package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Batches commands into log entries: the commands that wait while one entry is in flight form the
 * next one. (Two in flight halve the batches, which costs a quarter to a half more CPU per command
 * and is slower.) It has no thread of its own: the first submitter proposes, and later entries are
 * proposed by the thread that applied the previous one. Each submitter parks once and is woken by
 * apply.
 */
public final class CommitQueue {
  static final int BATCH_BYTES_MAX = 256 << 10;

  /** The longest command that is accepted. */
  public static final int COMMAND_BYTES_MAX =
      RaftSettings.ENTRY_BYTES_MAX * 3 / 4 - BATCH_BYTES_MAX;

  static final int WAITING_MAX = 4096;

  private final Clock clock;
  private final LogClock logClock;
  private final long timeoutNanos;

  /** Tries to make the proposal a log entry until it is applied or abandoned. */
  private final Consumer<Proposal> proposer;

  private final IntSupplier version;
  private final Counter commands;
  private final Counter entries;
  private final Timer commits;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Waiter> waiting = new ArrayDeque<>();

  /** Empty while nothing is in flight. */
  private List<Waiter> inFlight = List.of();

  /** When what is in flight was proposed. */
  private volatile long proposedNanos;

  private volatile long session;
  private final AtomicLong lastRequest = new AtomicLong();
  private boolean closed;

  /**
   * @param version the metadata version of an entry that is created now
   * @param logTimeMs time of the log, see {@link LogClock}
   */
  public CommitQueue(
      Clock clock,
      Duration timeout,
      MeterRegistry meters,
      IntSupplier version,
      Supplier<OptionalLong> logTimeMs,
      Consumer<Proposal> proposer) {
    this.clock = clock;
    this.logClock = new LogClock(clock, System::nanoTime, logTimeMs);
    this.commands =
        Counter.builder("ashlar.metadata.commands")
            .description("Commands proposed by this process as leader")
            .register(meters);
    this.entries =
        Counter.builder("ashlar.metadata.log.entries")
            .description("Log entries in which these commands were proposed")
            .register(meters);
    this.commits =
        Timer.builder("ashlar.metadata.commit.duration")
            .description("Time until a log entry is committed and applied, on the leader")
            .register(meters);
    this.timeoutNanos = timeout.toNanos();
    this.version = version;
    this.proposer = proposer;
  }

  /** A parked submitter. */
  static final class Waiter {
    private final Command command;
    private final Thread thread = Thread.currentThread();
    private final long deadlineNanos;
    private volatile @Nullable CommandResult result;
    private volatile boolean isGivenUp;

    Waiter(Command command, long deadlineNanos) {
      this.command = command;
      this.deadlineNanos = deadlineNanos;
    }

    Command command() {
      return command;
    }

    boolean isExpired() {
      return System.nanoTime() - deadlineNanos >= 0;
    }

    void succeed(CommandResult answer) {
      result = answer;
      wake();
    }

    /** Ends the wait without an answer. */
    void giveUp() {
      isGivenUp = true;
      wake();
    }

    private void wake() {
      LockSupport.unpark(thread);
    }
  }

  /** The number of commands that are not proposed yet. */
  int waiting() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** All commands that follow belong to this session. */
  public void setSession(long session) {
    this.session = session;
  }

  /** Submits a command of this queue's session, with the next request number. */
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    command
        .setSession(command.hasRegisterSession() ? 0 : session)
        .setRequest(lastRequest.incrementAndGet());
    return submit(command, System.nanoTime() + timeoutNanos);
  }

  /**
   * Submits a command that already has its session and request number.
   *
   * @param deadlineNanos the end of its submitter's wait
   */
  public CommandResult submit(Command.Builder command, long deadlineNanos)
      throws MetadataUnavailableException {
    Waiter waiter;
    List<Waiter> batch;
    lock.lock();
    try {
      waiter = enqueue(command, deadlineNanos);
      batch = nextBatch();
    } finally {
      lock.unlock();
    }
    propose(batch);
    CommandResult result = await(waiter);
    if (result == null) {
      throw expired(waiter);
    }
    return result;
  }

  private Waiter enqueue(Command.Builder builder, long deadlineNanos)
      throws MetadataUnavailableException {
    if (closed || waiting.size() >= WAITING_MAX) {
      throw MetadataUnavailableException.refused(
          closed ? "metadata is closed" : waiting.size() + " commands are waiting");
    }
    Command command = builder.setTimeMs(clock.millis()).setSteadyMs(logClock.millis()).build();
    if (command.getSerializedSize() > COMMAND_BYTES_MAX) {
      throw MetadataUnavailableException.refused(
          "a command of " + command.getSerializedSize() + " bytes");
    }
    Waiter waiter = new Waiter(command, deadlineNanos);
    waiting.add(waiter);
    return waiter;
  }

  /** The next batch; empty if one is in flight or nothing waits. Needs the lock. */
  private List<Waiter> nextBatch() {
    if (!inFlight.isEmpty() || waiting.isEmpty()) {
      return List.of();
    }
    List<Waiter> batch = new ArrayList<>();
    int bytes = 0;
    for (Waiter next = waiting.peek(); next != null; next = waiting.peek()) {
      bytes += next.command().getSerializedSize();
      if (!batch.isEmpty()
          && (bytes > BATCH_BYTES_MAX || batch.size() >= MetadataState.COMMANDS_PER_ENTRY_MAX)) {
        break;
      }
      batch.add(waiting.remove());
    }
    inFlight = batch;
    proposedNanos = System.nanoTime();
    commands.increment(batch.size());
    entries.increment();
    return batch;
  }

  private void propose(List<Waiter> batch) {
    if (!batch.isEmpty()) {
      proposer.accept(new Proposal(batch, version.getAsInt(), this));
    }
  }

  /** Called when the proposal in flight was applied. */
  void applied() {
    commits.record(System.nanoTime() - proposedNanos, TimeUnit.NANOSECONDS);
    finished();
  }

  /** Called when the proposal was applied or abandoned; proposes the next batch. */
  void finished() {
    List<Waiter> batch;
    lock.lock();
    try {
      inFlight = List.of();
      batch = closed ? List.of() : nextBatch();
    } finally {
      lock.unlock();
    }
    propose(batch);
  }

  private static @Nullable CommandResult await(Waiter waiter) {
    boolean interrupted = false;
    try {
      while (waiter.result == null && !waiter.isGivenUp && !waiter.isExpired()) {
        LockSupport.park(waiter); // without a timeout, which would cost a timer per command
        interrupted |= Thread.interrupted(); // parking returns at once while the flag is set
      }
      return waiter.result;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Called periodically: wakes submitters whose deadline has passed. */
  public void wakeExpired() {
    lock.lock();
    try {
      Stream.concat(inFlight.stream(), waiting.stream())
          .filter(Waiter::isExpired)
          .forEach(Waiter::wake);
    } finally {
      lock.unlock();
    }
  }

  private MetadataUnavailableException expired(Waiter waiter) {
    lock.lock();
    try {
      if (waiting.remove(waiter)) {
        return MetadataUnavailableException.refused(
            "metadata could not accept the command in time");
      }
    } finally {
      lock.unlock();
    }
    return MetadataUnavailableException.unknown(
        "metadata did not answer in time", new TimeoutException());
  }

  /** Accepts no further commands; proposed ones may still be answered. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all submitters without an answer: nothing is applied any more. */
  public void giveUp() {
    lock.lock();
    try {
      inFlight.forEach(Waiter::giveUp);
      waiting.forEach(Waiter::giveUp);
    } finally {
      lock.unlock();
    }
  }
}
