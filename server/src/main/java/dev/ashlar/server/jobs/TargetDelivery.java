package dev.ashlar.server.jobs;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.protocol.message.EventRow;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The events at hand that belong to one target, and how far the target is in the outbox. Of each
 * key one event is under way at a time; after a failure it is sent again, later each time. A target
 * at which key after key fails gets one event at a time, with growing pauses. For one thread.
 */
final class TargetDelivery {
  /** Events at hand. More are read when some have been sent. */
  static final int EVENTS_MAX = 2_000;

  /** Keys that have failed one after the other, after which a target counts as down. */
  static final int DOWN_AFTER = 16;

  /** A target that has not answered for so long does not answer. */
  static final Duration ANSWER_MAX = Duration.ofSeconds(30);

  private static final Duration RETRY_FIRST = Duration.ofMillis(100);
  private static final Duration RETRY_MAX = Duration.ofSeconds(10);
  private static final Duration PAUSE_FIRST = Duration.ofSeconds(1);
  private static final Duration PAUSE_MAX = Duration.ofMinutes(1);
  private static final Duration ANSWER_SOON = Duration.ofMillis(50);
  private static final int DOUBLINGS_MAX = 16;
  private static final int ERROR_CHARS_MAX = 300;

  private final EventTarget target;
  private final Consumer<Sending> ended;
  private final DeliveryMeters.OfTarget meters;
  private final Map<String, KeyEvents> keys = new HashMap<>();

  /** Keys to be sent that have not failed, or not since their last success. */
  private final Deque<KeyEvents> fresh = new ArrayDeque<>();

  /** Keys to be sent again. */
  private final Queue<KeyEvents> again = new ArrayDeque<>();

  private final PriorityQueue<KeyEvents> waiting =
      new PriorityQueue<>(Comparator.comparingLong(each -> each.dueNanos));
  private final Set<Sending> underWay = new LinkedHashSet<>();
  private EventPosition passed = EventPosition.START;
  private int pending;
  private int againUnderWay;

  /** Keys that have failed one after the other; while it is down, all failures. */
  private int failuresInRow;

  private long pausedUntilNanos;
  private long sent;
  private long failed;
  private String lastError = "";
  private long failedNanos;

  /** An event with what its message needs. */
  private record Pending(EventRow event, EventMessage.Context context) {}

  /** The events of a key. */
  private static final class KeyEvents {
    final String key;
    final ArrayDeque<Pending> events = new ArrayDeque<>(1);
    int failures;
    long dueNanos;
    @Nullable Sending sending;

    KeyEvents(String key) {
      this.key = key;
    }
  }

  /** An attempt to send an event. */
  static final class Sending {
    private final TargetDelivery of;
    private final KeyEvents key;
    private final EventRow event;
    private final long startedNanos;
    private final CompletableFuture<Void> answer;
    private final boolean isAgain;

    /** It was under way at a restart, and its event was not read since: it may belong to others. */
    private boolean isStale;

    private volatile @Nullable Throwable failure;

    private Sending(
        TargetDelivery of,
        KeyEvents key,
        EventRow event,
        long startedNanos,
        CompletableFuture<Void> answer) {
      this.of = of;
      this.key = key;
      this.event = event;
      this.startedNanos = startedNanos;
      this.answer = answer;
      this.isAgain = key.failures > 0;
    }

    EventRow event() {
      return event;
    }

    TargetDelivery of() {
      return of;
    }
  }

  /**
   * @param ended gets each attempt that has ended, on any thread
   */
  TargetDelivery(EventTarget target, Consumer<Sending> ended, DeliveryMeters.OfTarget meters) {
    this.target = target;
    this.ended = ended;
    this.meters = meters;
  }

  /** The last event that was read, whether or not it belongs to this target. */
  EventPosition passed() {
    return passed;
  }

  int pending() {
    return pending;
  }

  boolean hasRoom(int events) {
    return pending + events <= EVENTS_MAX;
  }

  /** An event that was read belongs to somebody else. */
  void pass(EventRow event) {
    passed = EventPosition.of(event);
  }

  /** An event that was read belongs to this target. */
  void add(EventRow event, EventMessage.Context context) {
    pass(event);
    KeyEvents key = keys.computeIfAbsent(EventMessage.key(event), KeyEvents::new);
    Sending sending = key.sending;
    if (sending != null && EventPosition.of(sending.event).equals(passed)) {
      sending.isStale = false; // under way since before a restart
      return;
    }
    key.events.add(new Pending(event, context));
    pending++;
    if (key.events.size() == 1) {
      fresh.add(key);
    }
  }

  /** Whether this event is at hand. */
  boolean has(EventRow event) {
    KeyEvents key = keys.get(EventMessage.key(event));
    EventPosition position = EventPosition.of(event);
    return key != null
        && key.events.stream().anyMatch(each -> EventPosition.of(each.event).equals(position));
  }

  /** Begins with the oldest event again. What is under way goes on. */
  void restart() {
    passed = EventPosition.START;
    fresh.clear();
    again.clear();
    waiting.clear();
    keys.values().removeIf(key -> key.sending == null);
    underWay.forEach(each -> each.isStale = true);
    for (KeyEvents key : keys.values()) {
      Pending first = key.events.remove();
      key.events.clear();
      key.events.add(first);
    }
    pending = keys.size();
  }

  /** Gives up all events. */
  void forget() {
    List<Sending> cancelled = new ArrayList<>(underWay);
    underWay.clear();
    againUnderWay = 0;
    cancelled.forEach(each -> each.answer.cancel(true));
    keys.clear();
    restart();
    failuresInRow = 0;
    pausedUntilNanos = 0;
  }

  /** Gives up attempts that take too long. */
  void giveUpLate(long now) {
    for (Sending each : List.copyOf(underWay)) {
      if (now - each.startedNanos > ANSWER_MAX.toNanos()) {
        each.answer.cancel(true);
      }
    }
  }

  /** Sends what may be sent now. */
  void send(long now) {
    while (!waiting.isEmpty() && waiting.element().dueNanos <= now) {
      again.add(waiting.remove());
    }
    if (isDown() && now < pausedUntilNanos) {
      return;
    }
    int max = isDown() ? 1 : target.sendsMax();
    while (underWay.size() < max) {
      KeyEvents key = next(max);
      if (key == null) {
        return;
      }
      begin(key, now);
    }
  }

  /**
   * The key to be sent next; null: none. Those that fail take at most half of what may be under
   * way. A target that is down is asked with the newest key: it may be that only older ones are
   * refused.
   */
  private @Nullable KeyEvents next(int max) {
    if (isDown()) {
      KeyEvents newest = fresh.pollLast();
      return newest == null ? again.poll() : newest;
    }
    KeyEvents failed = againUnderWay < (max + 1) / 2 ? again.poll() : null;
    return failed == null ? fresh.poll() : failed;
  }

  private boolean isDown() {
    return failuresInRow >= DOWN_AFTER;
  }

  private void begin(KeyEvents key, long now) {
    Pending first = key.events.element();
    CompletableFuture<Void> answer;
    try {
      answer = target.send(EventMessage.of(first.event, first.context));
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    Sending sending = new Sending(this, key, first.event, now, answer);
    key.sending = sending;
    underWay.add(sending);
    if (sending.isAgain) {
      againUnderWay++;
    }
    var unused =
        answer.whenComplete(
            (nothing, failure) -> {
              sending.failure = failure;
              ended.accept(sending);
            });
  }

  /** Takes note of the end of an attempt; returns whether the target has got the event. */
  boolean end(Sending sending, long now) {
    if (!underWay.remove(sending)) {
      return false; // it was given up
    }
    KeyEvents key = sending.key;
    key.sending = null;
    if (sending.isAgain) {
      againUnderWay--;
    }
    Throwable failure = sending.failure;
    if (failure != null) {
      fail(key, failure, now);
      if (sending.isStale) {
        remove(key); // it is read again if it still belongs to this target
      } else {
        key.dueNanos = now + doubled(RETRY_FIRST, key.failures++, RETRY_MAX);
        waiting.add(key);
      }
      return false;
    }
    failuresInRow = 0;
    sent++;
    meters.sent().increment();
    remove(key);
    return true;
  }

  /** Removes the first event of a key. */
  private void remove(KeyEvents key) {
    key.events.remove();
    key.failures = 0;
    pending--;
    if (key.events.isEmpty()) {
      keys.remove(key.key);
    } else {
      fresh.add(key);
    }
  }

  private void fail(KeyEvents key, Throwable failure, long now) {
    failed++;
    meters.failed().increment();
    lastError = text(failure);
    failedNanos = now;
    if (isDown() || key.failures == 0) {
      failuresInRow++;
    }
    if (isDown()) {
      pausedUntilNanos = now + doubled(PAUSE_FIRST, failuresInRow - DOWN_AFTER, PAUSE_MAX);
    }
  }

  private static long doubled(Duration first, int times, Duration max) {
    return Math.min(first.toNanos() << Math.min(times, DOUBLINGS_MAX), max.toNanos());
  }

  private static String text(Throwable failure) {
    if (failure instanceof CancellationException) {
      return "no answer in " + ANSWER_MAX.toSeconds() + " s";
    }
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    String message = cause.getMessage();
    String text = message == null ? cause.getClass().getSimpleName() : message;
    String oneLine = text.replaceAll("\\p{C}+", " ");
    return oneLine.length() > ERROR_CHARS_MAX ? oneLine.substring(0, ERROR_CHARS_MAX) : oneLine;
  }

  /** Until something is to be done for this target; the greatest number: nothing is at hand. */
  long nanosUntilNext(long now) {
    if (!underWay.isEmpty()) {
      return ANSWER_SOON.toNanos();
    }
    long pause = isDown() ? Math.max(0, pausedUntilNanos - now) : 0;
    if (!fresh.isEmpty() || !again.isEmpty()) {
      return pause;
    }
    return waiting.isEmpty() ? Long.MAX_VALUE : Math.max(pause, waiting.element().dueNanos - now);
  }

  /** When the oldest event at hand happened; 0: there is none. */
  long oldestMs() {
    return keys.values().stream()
        .mapToLong(key -> key.events.element().event.getTimeMs())
        .min()
        .orElse(0);
  }

  DeliveryState.Target state(long now) {
    boolean hasFailed = failed > 0;
    return new DeliveryState.Target(
        target.arn(),
        isDown() ? "down" : failuresInRow > 0 ? "failing" : "up",
        pending,
        oldestMs(),
        sent,
        failed,
        lastError,
        hasFailed ? Duration.ofNanos(now - failedNanos).toSeconds() : 0);
  }
}
