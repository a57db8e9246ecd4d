package dev.ashlar.it.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What may be read, given what was asked for and what was acknowledged. Each key is a register: a
 * read may return the value of a write unless another write, acknowledged before the read began,
 * began after that one had been acknowledged. A write without an answer may take effect or not.
 *
 * @param <V> what a value is known by
 */
final class Ledger<V> {
  private static final long NEVER = Long.MAX_VALUE;

  private final AtomicLong clock = new AtomicLong();
  private final Map<String, List<Attempt>> attempts = new ConcurrentHashMap<>();
  private final AtomicLong acknowledged = new AtomicLong();

  /** A write on its way; no content means a delete. */
  final class Attempt {
    private final @Nullable V content;
    private final long began;
    private volatile long ended = NEVER;

    private Attempt(@Nullable V content, long began) {
      this.content = content;
      this.began = began;
    }

    void acknowledged() {
      ended = clock.incrementAndGet();
      acknowledged.incrementAndGet();
    }

    /** It was answered that it did not happen. */
    void refused(String key) {
      List<Attempt> history = history(key);
      synchronized (history) {
        history.remove(this);
      }
    }

    @Override
    public String toString() {
      return (content == null ? "absent" : content.toString())
          + "@"
          + began
          + (ended == NEVER ? " unanswered" : ".." + ended);
    }
  }

  Attempt begin(String key, @Nullable V content) {
    List<Attempt> history = history(key);
    synchronized (history) {
      Attempt attempt = new Attempt(content, clock.incrementAndGet());
      history.add(attempt);
      return attempt;
    }
  }

  long now() {
    return clock.incrementAndGet();
  }

  long acknowledgements() {
    return acknowledged.get();
  }

  Set<String> keys() {
    return new TreeSet<>(attempts.keySet());
  }

  /** The write whose value a read that began then may have returned; empty if there is none. */
  Optional<Attempt> explain(String key, @Nullable V observed, long readBegan) {
    List<Attempt> history = history(key);
    synchronized (history) {
      return history.stream()
          .filter(attempt -> java.util.Objects.equals(attempt.content, observed))
          .filter(attempt -> !isSuperseded(attempt, history, readBegan))
          .findFirst();
    }
  }

  /** After a check at rest: what was seen is now the only possible value. */
  void settle(String key, @Nullable V observed) {
    List<Attempt> history = history(key);
    synchronized (history) {
      history.clear();
      history.add(settled(observed));
    }
  }

  String describe(String key) {
    List<Attempt> history = history(key);
    synchronized (history) {
      return key + " " + history;
    }
  }

  private boolean isSuperseded(Attempt attempt, List<Attempt> history, long readBegan) {
    return history.stream()
        .anyMatch(later -> later.began > attempt.ended && later.ended < readBegan);
  }

  private List<Attempt> history(String key) {
    return attempts.computeIfAbsent(
        key,
        k -> {
          List<Attempt> history = new ArrayList<>();
          history.add(settled(null));
          return history;
        });
  }

  private Attempt settled(@Nullable V content) {
    Attempt attempt = new Attempt(content, 0);
    attempt.ended = 0;
    return attempt;
  }
}
