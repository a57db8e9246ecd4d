package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which versions keys may have, given what was asked for and what was acknowledged. A version with
 * an id of its own is there from its acknowledgement on until its deletion is asked for; the null
 * version of a key is a register. A request without an answer may take effect or not.
 */
final class VersionLedger {
  static final String NULL = "null";
  private static final long NEVER = Long.MAX_VALUE;

  private final AtomicLong clock = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final Map<String, Key> keys = new ConcurrentHashMap<>();
  private final Ledger<Version> nulls = new Ledger<>();

  /**
   * A version as a listing shows it.
   *
   * @param content null: a delete marker
   */
  record Version(String id, @Nullable Content content) {}

  /** What was done to one key. Guarded by itself. */
  private static final class Key {
    private final List<Write> writes = new ArrayList<>();
    private final Set<String> deletionsAsked = new HashSet<>();
    private final Set<String> deleted = new HashSet<>();

    Optional<Write> find(String id) {
      return writes.stream().filter(write -> write.id.equals(id)).findFirst();
    }
  }

  /** A request that makes a version, or a delete marker. */
  final class Write {
    private final String key;
    private final @Nullable Content content;
    private final long began = clock.incrementAndGet();
    private final Ledger<Version>.Attempt ofNull;
    private long ended = NEVER;
    private String id = "";

    private Write(String key, @Nullable Content content) {
      this.key = key;
      this.content = content;
      ofNull = nulls.begin(key, new Version(NULL, content));
    }

    /**
     * @param versionId as answered; null or "null": the null version
     */
    void acknowledged(@Nullable String versionId) {
      acknowledged.incrementAndGet();
      if (versionId == null || versionId.equals(NULL)) {
        ofNull.acknowledged();
        forget();
        return;
      }
      ofNull.refused(key);
      synchronized (key(key)) {
        id = versionId;
        ended = clock.incrementAndGet();
      }
    }

    /** It was answered that it did not happen. */
    void refused() {
      ofNull.refused(key);
      forget();
    }

    private void forget() {
      synchronized (key(key)) {
        key(key).writes.remove(this);
      }
    }

    @Override
    public String toString() {
      String what = content == null ? "marker" : content.toString();
      return what + " " + (id.isEmpty() ? "unanswered" : id) + "@" + began;
    }
  }

  private Key key(String key) {
    return keys.computeIfAbsent(key, name -> new Key());
  }

  long acknowledgements() {
    return acknowledged.get();
  }

  /**
   * @param content null: of a delete marker
   */
  Write begin(String key, @Nullable Content content) {
    Write write = new Write(key, content);
    synchronized (key(key)) {
      key(key).writes.add(write);
    }
    return write;
  }

  /** A deletion of one version is asked for; the result is to be run once it is acknowledged. */
  Runnable beginDeletion(String key, String id) {
    if (id.equals(NULL)) {
      return nulls.begin(key, null)::acknowledged;
    }
    synchronized (key(key)) {
      key(key).deletionsAsked.add(id);
    }
    return () -> {
      synchronized (key(key)) {
        key(key).deleted.add(id);
      }
      acknowledged.incrementAndGet();
    };
  }

  /** A version that was acknowledged, with its id; others may be deleting it. */
  Optional<Version> any(String key, SplittableRandom random) {
    synchronized (key(key)) {
      Set<String> deleted = key(key).deleted;
      List<Write> known =
          key(key).writes.stream()
              .filter(it -> !it.id.isEmpty() && !deleted.contains(it.id))
              .toList();
      return known.isEmpty()
          ? Optional.empty()
          : Optional.of(known.get(random.nextInt(known.size())))
              .map(write -> new Version(write.id, write.content));
    }
  }

  /** Whether a version that was acknowledged may not be found any more. */
  boolean mayBeDeleted(String key, String id) {
    synchronized (key(key)) {
      return key(key).deletionsAsked.contains(id);
    }
  }

  Set<String> keys() {
    return new TreeSet<>(keys.keySet());
  }

  /**
   * At rest: the versions of a key must be those that were acknowledged, and what unanswered
   * requests may have made. From then on they are the only possible ones.
   *
   * @param listed newest first, versions with content apart from markers
   * @param latest the newest one of all; none if there are none
   */
  void settle(String key, List<Version> listed, List<Version> latest) {
    synchronized (key(key)) {
      Key known = key(key);
      String all = key + ": listed " + listed + ", written " + known.writes;
      settleNull(key, listed, all);
      List<Write> there = new ArrayList<>();
      for (Version version : listed) {
        if (!version.id().equals(NULL)) {
          Write write = known.find(version.id()).orElseGet(() -> unanswered(known, version, all));
          assertEquals(write.content, version.content(), all);
          assertTrue(!known.deleted.contains(version.id()), () -> "is back: " + version + all);
          there.add(write);
        }
      }
      for (Write write : known.writes) {
        assertTrue(
            write.id.isEmpty() || there.contains(write) || known.deletionsAsked.contains(write.id),
            () -> "lost: " + write + ", " + all);
      }
      requireOrder(there.stream().filter(write -> write.content != null).toList(), all);
      requireOrder(there.stream().filter(write -> write.content == null).toList(), all);
      for (Version newest : latest) {
        known
            .find(newest.id())
            .ifPresent(write -> there.forEach(other -> requireOrder(other, write, all)));
      }
      known.writes.retainAll(there);
      known.deletionsAsked.clear();
      known.deleted.clear();
    }
  }

  private void settleNull(String key, List<Version> listed, String all) {
    List<Version> ofNull = listed.stream().filter(it -> it.id().equals(NULL)).toList();
    assertTrue(ofNull.size() <= 1, all);
    Version observed = ofNull.isEmpty() ? null : ofNull.getFirst();
    assertTrue(
        nulls.explain(key, observed, nulls.now()).isPresent(),
        () -> "null version " + observed + ", but " + nulls.describe(key));
    nulls.settle(key, observed);
  }

  private Write unanswered(Key known, Version version, String all) {
    Write write =
        known.writes.stream()
            .filter(it -> it.id.isEmpty() && Objects.equals(it.content, version.content()))
            .findFirst()
            .orElseThrow(() -> new AssertionError("nobody wrote " + version + ", " + all));
    write.id = version.id();
    write.ended = clock.incrementAndGet();
    return write;
  }

  /** None is listed as older than one that had been acknowledged before it was asked for. */
  private static void requireOrder(List<Write> newestFirst, String all) {
    for (int i = 1; i < newestFirst.size(); i++) {
      requireOrder(newestFirst.get(i), newestFirst.get(i - 1), all);
    }
  }

  private static void requireOrder(Write older, Write newer, String all) {
    assertTrue(older.began <= newer.ended, () -> "order of " + older + ", " + newer + ": " + all);
  }
}
