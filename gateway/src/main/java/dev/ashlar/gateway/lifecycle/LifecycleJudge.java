package dev.ashlar.gateway.lifecycle;

import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Says what is due for a version. Where several things are, the deletion of a version for good wins
 * over a move to another storage class, and that over a delete marker which is not due later: a
 * move that was not possible in time does not keep a version present.
 *
 * @param rules enabled ones
 * @param keepsVersions whether the bucket ever had versioning: then present versions expire by
 *     delete markers
 * @param hasLocks whether versions of the bucket can be locked
 */
public record LifecycleJudge(
    LifecycleRules rules, LifecycleCalendar calendar, boolean keepsVersions, boolean hasLocks) {
  private static final long SMALL_BYTES = 128 << 10;
  private static final long NEVER = Long.MAX_VALUE;

  /**
   * @param source asked at most once
   */
  public <E extends Exception> Verdict judge(
      JudgedVersion version, long nowMs, VersionFacts.Source<E> source) throws E {
    Judgement<E> judgement = new Judgement<>(this, version, nowMs, source);
    return version.isNewest() ? judgement.ofNewest() : judgement.ofNoncurrent();
  }

  /** Of one version, which knows its facts once they were needed. */
  private static final class Judgement<E extends Exception> {
    private final LifecycleJudge judge;
    private final JudgedVersion version;
    private final long nowMs;
    private final VersionFacts.Source<E> source;
    private @Nullable VersionFacts facts;

    Judgement(
        LifecycleJudge judge, JudgedVersion version, long nowMs, VersionFacts.Source<E> source) {
      this.judge = judge;
      this.version = version;
      this.nowMs = nowMs;
      this.source = source;
    }

    private VersionFacts facts() throws E {
      VersionFacts known = facts == null ? source.read() : facts;
      facts = known;
      return known;
    }

    Verdict ofNewest() throws E {
      if (version.isMarker()) {
        return version.isOnly() && isMarkerExpired() ? new Verdict.Delete(0) : Verdict.KEEP;
      }
      long expiredMs = expiredMs();
      if (expiredMs != NEVER && !judge.keepsVersions) {
        return Verdict.EXPIRE;
      }
      Target move = move();
      boolean isExpired = expiredMs != NEVER && (move == null || move.dueMs < expiredMs);
      return isExpired ? Verdict.EXPIRE : verdict(move);
    }

    private static Verdict verdict(@Nullable Target move) {
      return move == null ? Verdict.KEEP : new Verdict.Move(move.storageClass);
    }

    Verdict ofNoncurrent() throws E {
      OptionalInt newerKept = noncurrentExpired();
      boolean isDue = newerKept.isPresent();
      if (isDue && !isLocked()) {
        return new Verdict.Delete(newerKept.getAsInt());
      }
      Target move = version.isMarker() ? null : move();
      return isDue && move == null ? Verdict.LOCKED : verdict(move);
    }

    private boolean isLocked() throws E {
      return judge.hasLocks && !version.isMarker() && facts().isLocked(nowMs);
    }

    /** Without looking at tags. */
    private boolean mayBeAbout(LifecycleRule rule) {
      LifecycleFilter filter = rule.filter();
      return filter.matchesKey(version.key())
          && (version.isMarker() ? filter.matchesMarkers() : filter.matchesSize(version.size()));
    }

    private boolean hasTags(LifecycleRule rule) throws E {
      return !rule.filter().hasTags() || rule.filter().matchesTags(facts().tags());
    }

    private boolean isDue(When when) {
      return when.dueMs(version.sinceMs(), judge.calendar) <= nowMs;
    }

    private boolean isNoncurrentDue(int days, int newerKept) {
      return version.newerNoncurrent() >= newerKept
          && judge.calendar.dueMs(version.sinceMs(), days) <= nowMs;
    }

    private boolean isMarkerExpired() {
      for (LifecycleRule rule : judge.rules.rules()) {
        LifecycleRule.Expiration expiration = rule.expiration();
        if (expiration != null && mayBeAbout(rule)) {
          When when = expiration.when();
          if (when == null ? expiration.removesMarkers() : isDue(when)) {
            return true;
          }
        }
      }
      return false;
    }

    /** Since when a present version is expired; NEVER: it is not. */
    private long expiredMs() throws E {
      long firstMs = NEVER;
      for (LifecycleRule rule : judge.rules.rules()) {
        LifecycleRule.Expiration expiration = rule.expiration();
        When when = expiration == null ? null : expiration.when();
        if (when != null && isDue(when) && mayBeAbout(rule) && hasTags(rule)) {
          firstMs = Math.min(firstMs, when.dueMs(version.sinceMs(), judge.calendar));
        }
      }
      return firstMs;
    }

    /**
     * How many newer versions have to be kept, so that this one may be deleted; empty: it stays.
     */
    private OptionalInt noncurrentExpired() throws E {
      int least = Integer.MAX_VALUE;
      for (LifecycleRule rule : judge.rules.rules()) {
        LifecycleRule.NoncurrentExpiration expiration = rule.noncurrentExpiration();
        if (expiration != null
            && expiration.newerKept() < least
            && isNoncurrentDue(expiration.days(), expiration.newerKept())
            && mayBeAbout(rule)
            && hasTags(rule)) {
          least = expiration.newerKept();
        }
      }
      return least == Integer.MAX_VALUE ? OptionalInt.empty() : OptionalInt.of(least);
    }

    /**
     * To the class that was due last; of several at the same time, the one that stands first. Null:
     * the version has it.
     */
    private @Nullable Target move() throws E {
      Target last = null;
      for (LifecycleRule rule : mayMove() ? judge.rules.rules() : List.<LifecycleRule>of()) {
        Target target = target(rule);
        if (target != null && (last == null || target.dueMs > last.dueMs) && hasTags(rule)) {
          last = target;
        }
      }
      return last == null || last.storageClass.equals(version.storageClass()) ? null : last;
    }

    /** Whether a rule names another class, whatever the tags are: they need not be read else. */
    private boolean mayMove() {
      for (LifecycleRule rule : judge.rules.rules()) {
        Target target = target(rule);
        if (target != null && !target.storageClass.equals(version.storageClass())) {
          return true;
        }
      }
      return false;
    }

    private record Target(long dueMs, String storageClass) {}

    /** What a rule says, whatever the tags are; null: nothing yet. */
    private @Nullable Target target(LifecycleRule rule) {
      if (!rule.moves() || !mayBeAbout(rule) || staysAsSmall(rule)) {
        return null;
      }
      Target last = null;
      if (version.isNewest()) {
        for (LifecycleRule.Transition transition : rule.transitions()) {
          long dueMs = transition.when().dueMs(version.sinceMs(), judge.calendar);
          last = dueMs <= nowMs ? later(last, dueMs, transition.storageClass()) : last;
        }
      } else {
        for (LifecycleRule.NoncurrentTransition transition : rule.noncurrentTransitions()) {
          if (isNoncurrentDue(transition.days(), transition.newerKept())) {
            long dueMs = judge.calendar.dueMs(version.sinceMs(), transition.days());
            last = later(last, dueMs, transition.storageClass());
          }
        }
      }
      return last;
    }

    private static Target later(@Nullable Target last, long dueMs, String storageClass) {
      return last == null || dueMs > last.dueMs ? new Target(dueMs, storageClass) : last;
    }

    private boolean staysAsSmall(LifecycleRule rule) {
      return judge.rules.smallObjectsStay()
          && version.size() < SMALL_BYTES
          && !rule.filter().hasSizes();
    }
  }
}
