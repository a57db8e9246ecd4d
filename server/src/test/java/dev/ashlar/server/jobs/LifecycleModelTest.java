package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.lifecycle.LifecycleFilter;
import dev.ashlar.gateway.lifecycle.LifecycleRule;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.gateway.lifecycle.When;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.Versioning;
import java.time.Instant;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * A simulated year of a bucket whose rules, versions, markers, tags and locks change, against an
 * evaluator that knows no paging, no commands and no laziness.
 */
class LifecycleModelTest {
  private static final long YEAR_MS = 366 * LifecycleStore.DAY;
  private static final List<String> KEYS = List.of("a", "a/1", "a/2", "b/1", "c");
  private static final List<String> CLASSES = List.of("STANDARD", "A", "B");
  private static final Tag RED = Tag.newBuilder().setKey("color").setValue("red").build();

  /** A version as the evaluator has it. */
  private record Version(
      long id,
      boolean isMarker,
      boolean isNull,
      long writtenMs,
      long size,
      String storageClass,
      List<Tag> tags,
      ObjectLock lock) {
    Version in(String other) {
      return new Version(id, isMarker, isNull, writtenMs, size, other, tags, lock);
    }

    String shown() {
      return isMarker
          ? "marker of " + writtenMs
          : size + " in " + storageClass + " of " + writtenMs;
    }
  }

  /** The bucket as the evaluator has it: the newest version of each key first. */
  private static final class Model {
    private final Map<String, List<Version>> keys = new TreeMap<>();
    private Versioning versioning = Versioning.VERSIONING_OFF;
    private List<LifecycleRule> rules = List.of();
    private boolean smallObjectsStay;
    private long ids;
    private long scannedDay = -1;
    private boolean haveRulesChanged;

    void put(String key, Version version) {
      makeRoom(key).addFirst(version);
    }

    private List<Version> of(String key) {
      return keys.computeIfAbsent(key, name -> new ArrayList<>());
    }

    private List<Version> makeRoom(String key) {
      List<Version> versions = of(key);
      if (versioning != Versioning.VERSIONING_ENABLED) {
        versions.removeIf(Version::isNull);
      }
      return versions;
    }

    void delete(String key, long now) {
      List<Version> versions = makeRoom(key);
      if (versioning != Versioning.VERSIONING_OFF) {
        boolean isNull = versioning == Versioning.VERSIONING_SUSPENDED;
        Version marker =
            new Version(
                ids++, true, isNull, now, 0, "", List.of(), ObjectLock.getDefaultInstance());
        versions.addFirst(marker);
      }
    }

    void scan(long now) {
      long day = Math.floorDiv(now, LifecycleStore.DAY);
      if ((day == scannedDay && !haveRulesChanged) || rules.isEmpty()) {
        return;
      }
      scannedDay = day;
      haveRulesChanged = false;
      for (String key : List.copyOf(keys.keySet())) {
        deleteDue(key, now);
      }
      for (String key : keys.keySet()) {
        List<Version> versions = of(key);
        for (int i = 0; i < versions.size(); i++) {
          Move move = move(key, versions, i, now);
          if (move != null && !isDeletedForGood(key, versions, i, now)) {
            versions.set(i, versions.get(i).in(move.target));
          }
        }
      }
    }

    private void deleteDue(String key, long now) {
      List<Version> before = List.copyOf(of(key));
      boolean isExpired = false;
      List<Version> gone = new ArrayList<>();
      int newer = 0; // versions that stay between this one and the newest one
      for (int i = 0; i < before.size(); i++) {
        boolean isGone =
            isDeletedForGood(key, before, i, now)
                && (i == 0 || newerKept(key, before, i, now) <= newer);
        newer += i > 0 && !isGone ? 1 : 0;
        if (isGone) {
          gone.add(before.get(i));
        } else if (i == 0 && isExpired(key, before, now)) {
          Move move = move(key, before, 0, now);
          isExpired = move == null || !isExpired(key, before, move.due);
        }
      }
      of(key).removeAll(gone);
      if (isExpired) {
        delete(key, now);
      }
    }

    private boolean isDeletedForGood(String key, List<Version> versions, int i, long now) {
      Version version = versions.get(i);
      if (i > 0) {
        return newerKept(key, versions, i, now) <= i - 1 && !isLocked(version, now);
      }
      if (version.isMarker) {
        return versions.size() == 1 && isMarkerExpired(key, version, now);
      }
      return versioning == Versioning.VERSIONING_OFF && isExpired(key, versions, now);
    }

    private boolean isLocked(Version version, long now) {
      return version.lock.getLegalHold() || version.lock.getRetainUntilMs() > now;
    }

    private boolean isExpired(String key, List<Version> versions, long now) {
      Version version = versions.getFirst();
      return !version.isMarker
          && rules.stream()
              .filter(rule -> matches(rule, key, version))
              .anyMatch(rule -> isOver(rule.expiration(), version.writtenMs, now));
    }

    private static boolean isOver(
        LifecycleRule.@Nullable Expiration expiration, long since, long now) {
      When when = expiration == null ? null : expiration.when();
      return when != null && dueMs(when, since) <= now;
    }

    private boolean isMarkerExpired(String key, Version marker, long now) {
      return rules.stream()
          .filter(rule -> matches(rule, key, marker))
          .anyMatch(
              rule -> {
                LifecycleRule.Expiration expiration = rule.expiration();
                return (expiration != null && expiration.removesMarkers())
                    || isOver(expiration, marker.writtenMs, now);
              });
    }

    /** How many newer noncurrent versions have to be there before this one is deleted. */
    private int newerKept(String key, List<Version> versions, int i, long now) {
      int least = Integer.MAX_VALUE;
      for (LifecycleRule rule : rules) {
        LifecycleRule.NoncurrentExpiration expiration = rule.noncurrentExpiration();
        if (expiration != null
            && matches(rule, key, versions.get(i))
            && dueMs(new When.Days(expiration.days()), versions.get(i - 1).writtenMs) <= now) {
          least = Math.min(least, expiration.newerKept());
        }
      }
      return least;
    }

    private record Move(long due, String target) {}

    /** To the other class that a version is to have; null: none. */
    private @Nullable Move move(String key, List<Version> versions, int i, long now) {
      Version version = versions.get(i);
      long last = -1;
      String target = version.storageClass;
      for (LifecycleRule rule : version.isMarker ? List.<LifecycleRule>of() : rules) {
        boolean isTooSmall =
            smallObjectsStay && version.size < 131_072 && !rule.filter().hasSizes();
        if (!matches(rule, key, version) || isTooSmall) {
          continue;
        }
        Map<Long, String> dues = new TreeMap<>();
        if (i == 0) {
          for (LifecycleRule.Transition each : rule.transitions()) {
            dues.putIfAbsent(dueMs(each.when(), version.writtenMs), each.storageClass());
          }
        } else {
          for (LifecycleRule.NoncurrentTransition each : rule.noncurrentTransitions()) {
            if (i - 1 >= each.newerKept()) {
              long due = dueMs(new When.Days(each.days()), versions.get(i - 1).writtenMs);
              dues.putIfAbsent(due, each.storageClass());
            }
          }
        }
        for (Map.Entry<Long, String> due : dues.entrySet()) {
          if (due.getKey() <= now && due.getKey() > last) {
            last = due.getKey();
            target = due.getValue();
          }
        }
      }
      return target.equals(version.storageClass) ? null : new Move(last, target);
    }

    private static boolean matches(LifecycleRule rule, String key, Version version) {
      LifecycleFilter filter = rule.filter();
      boolean isOfKey = rule.isEnabled() && key.startsWith(filter.keyPrefix());
      if (version.isMarker) {
        return isOfKey && !filter.hasTags() && !filter.hasSizes();
      }
      boolean isLarge = filter.sizeAbove() < 0 || version.size > filter.sizeAbove();
      boolean isSmall = filter.sizeBelow() < 0 || version.size < filter.sizeBelow();
      return isOfKey && isLarge && isSmall && version.tags.containsAll(filter.tags());
    }

    /** By the calendar of Java. */
    private static long dueMs(When when, long since) {
      return switch (when) {
        case When.Date(long timeMs) -> timeMs;
        case When.Days(int days) -> {
          OffsetDateTime over = Instant.ofEpochMilli(since).atOffset(ZoneOffset.UTC).plusDays(days);
          OffsetDateTime midnight = over.truncatedTo(ChronoUnit.DAYS);
          yield (over.toLocalTime().equals(LocalTime.MIDNIGHT) ? midnight : midnight.plusDays(1))
              .toInstant()
              .toEpochMilli();
        }
      };
    }

    List<String> shown() {
      List<String> shown = new ArrayList<>();
      keys.forEach(
          (key, versions) -> versions.forEach(each -> shown.add(key + ": " + each.shown())));
      return shown;
    }
  }

  private static List<String> shown(LifecycleStore store) throws Exception {
    List<String> shown = new ArrayList<>();
    for (VersionEntry entry : store.versions()) {
      String storageClass = entry.getSummary().getStorageClass();
      shown.add(
          entry.getName()
              + ": "
              + new Version(
                      0,
                      entry.getDeleteMarker(),
                      false,
                      entry.getSummary().getLastModifiedMs(),
                      entry.getSummary().getSize(),
                      storageClass.isEmpty() ? "STANDARD" : storageClass,
                      List.of(),
                      ObjectLock.getDefaultInstance())
                  .shown());
    }
    return shown;
  }

  private static LifecycleRules someRules(Random random, long now) {
    List<LifecycleRule> rules = new ArrayList<>();
    int number = 1 + random.nextInt(4);
    for (int i = 0; i < number; i++) {
      rules.add(someRule(random, "r" + i, now));
    }
    return new LifecycleRules(rules, random.nextInt(4) == 0);
  }

  private static LifecycleRule someRule(Random random, String id, long now) {
    String prefix = List.of("", "", "a", "a/", "b/").get(random.nextInt(5));
    boolean hasTags = random.nextInt(4) == 0;
    boolean hasSizes = random.nextInt(4) == 0;
    LifecycleFilter filter =
        new LifecycleFilter(
            false,
            prefix,
            hasTags ? List.of(RED) : List.of(),
            hasSizes && random.nextBoolean() ? 500 : -1,
            hasSizes ? 3000 : -1);
    boolean hasDate = random.nextInt(5) == 0;
    LifecycleRule.Expiration expiration = null;
    if (random.nextInt(2) == 0) {
      boolean isOfMarkers = !hasTags && !hasSizes && random.nextInt(3) == 0;
      When when = isOfMarkers ? null : when(random, hasDate, now, 10);
      expiration = new LifecycleRule.Expiration(when, isOfMarkers);
    }
    List<LifecycleRule.Transition> transitions = new ArrayList<>();
    if (expiration == null || expiration.when() == null || !hasDate) {
      for (String name : some(random)) {
        transitions.add(new LifecycleRule.Transition(when(random, hasDate, now, 0), name));
      }
    }
    LifecycleRule.NoncurrentExpiration noncurrent =
        random.nextInt(2) == 0
            ? new LifecycleRule.NoncurrentExpiration(10 + random.nextInt(20), random.nextInt(4))
            : null;
    List<LifecycleRule.NoncurrentTransition> noncurrentTransitions = new ArrayList<>();
    for (String name : some(random)) {
      noncurrentTransitions.add(
          new LifecycleRule.NoncurrentTransition(random.nextInt(10), random.nextInt(3), name));
    }
    boolean acts =
        expiration != null
            || noncurrent != null
            || !transitions.isEmpty()
            || !noncurrentTransitions.isEmpty();
    return new LifecycleRule(
        id,
        random.nextInt(8) > 0,
        filter,
        acts ? expiration : new LifecycleRule.Expiration(new When.Days(5), false),
        transitions,
        noncurrent,
        noncurrentTransitions,
        0);
  }

  private static List<String> some(Random random) {
    List<String> names = new ArrayList<>(CLASSES);
    names.removeIf(name -> random.nextInt(3) > 0);
    return names;
  }

  /** Days of transitions are below 10, those of expirations are not. */
  private static When when(Random random, boolean isDate, long now, int daysMin) {
    long midnight = Math.floorDiv(now, LifecycleStore.DAY) * LifecycleStore.DAY;
    return isDate
        ? new When.Date(midnight + (random.nextInt(40) - 5) * LifecycleStore.DAY)
        : new When.Days(daysMin + random.nextInt(daysMin == 0 ? 10 : 30));
  }

  @Property(tries = 25)
  void aYearGoesAsTheRulesSay(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    try (LifecycleStore store = new LifecycleStore()) {
      Model model = new Model();
      boolean hasLock = random.nextInt(3) == 0;
      if (hasLock) {
        store.lock();
        model.versioning = Versioning.VERSIONING_ENABLED;
      }
      LifecycleJob job = store.newJob();
      while (store.clock.millis() < LifecycleStore.BEGIN + YEAR_MS) {
        store.clock.advanceMs(1 + (long) (random.nextDouble() * 6 * LifecycleStore.DAY));
        change(random, store, model, hasLock);
        if (random.nextInt(5) == 0) {
          job = store.newJob(); // on another gateway
        }
        LifecycleStore.runAll(job);
        model.scan(store.clock.millis());
        assertEquals(
            String.join("\n", model.shown()),
            String.join("\n", shown(store)),
            () -> "seed " + seed + " at " + store.clock.instant() + " by " + model.rules);
      }
    }
  }

  private static void change(Random random, LifecycleStore store, Model model, boolean hasLock)
      throws Exception {
    long now = store.clock.millis();
    if (model.rules.isEmpty() || random.nextInt(12) == 0) {
      LifecycleRules rules = someRules(random, now);
      store.put(rules);
      model.haveRulesChanged |=
          !rules.equals(new LifecycleRules(model.rules, model.smallObjectsStay));
      model.rules = rules.rules();
      model.smallObjectsStay = rules.smallObjectsStay();
    }
    if (!hasLock && random.nextInt(15) == 0) {
      model.versioning =
          random.nextBoolean() ? Versioning.VERSIONING_ENABLED : Versioning.VERSIONING_SUSPENDED;
      store.versioning(model.versioning);
    }
    int number = random.nextInt(5);
    for (int i = 0; i < number; i++) {
      String key = KEYS.get(random.nextInt(KEYS.size()));
      if (random.nextInt(4) == 0) {
        boolean isThere = model.keys.containsKey(key) && !model.of(key).isEmpty();
        if (isThere || model.versioning != Versioning.VERSIONING_OFF) {
          store.delete(key);
          model.delete(key, now);
        }
      } else {
        put(random, store, model, key, hasLock);
      }
    }
  }

  private static void put(
      Random random, LifecycleStore store, Model model, String key, boolean hasLock)
      throws Exception {
    long now = store.clock.millis();
    int size = random.nextInt(10) == 0 ? 140_000 : random.nextInt(5000);
    List<Tag> tags = random.nextInt(3) == 0 ? List.of(RED) : List.of();
    ObjectLock.Builder lock = ObjectLock.newBuilder();
    if (hasLock && random.nextInt(4) == 0) {
      lock.setMode(ObjectLock.Mode.COMPLIANCE)
          .setRetainUntilMs(now + random.nextInt(60) * LifecycleStore.DAY + 1);
    } else if (hasLock && random.nextInt(12) == 0) {
      lock.setLegalHold(true).setLegalHoldTold(true);
    }
    store.put(key, size, tags, lock.build());
    boolean isNull = model.versioning != Versioning.VERSIONING_ENABLED;
    model.put(
        key, new Version(model.ids++, false, isNull, now, size, "STANDARD", tags, lock.build()));
  }
}
