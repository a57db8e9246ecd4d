package dev.ashlar.blob.repair;

import static java.util.Objects.requireNonNull;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.Meters;
import dev.ashlar.protocol.client.DebtsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.RelocatedShard;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DebtLevels;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counts the debts of each placement group, and for how long the group has had debts: the oldest
 * group shows whether repair makes progress. Metadata counts by level only, so this reads all debts
 * page by page. For many threads.
 */
public final class GroupDebts {
  private static final int PAGE = 200;

  /** Limit of a count that a caller waits for; it is then incomplete. */
  private static final Duration COUNT_MAX = Duration.ofSeconds(5);

  private static final Duration WITHOUT_LIMIT = Duration.ofDays(1);

  private static final Comparator<Group> SLOWEST =
      Comparator.comparingLong(Group::sinceMs)
          .thenComparing(Group::blobs, Comparator.reverseOrder())
          .thenComparing(Group::pg);

  private final MetadataClient metadata;
  private final Clock clock;

  /** When debts of each placement group were first seen. Used by one thread. */
  private final Map<Integer, Long> sinceMs = new HashMap<>();

  private volatile @Nullable Count kept;

  /**
   * The debts of a placement group. Shards on drives that are out count as missing, too.
   *
   * @param sinceMs since when the placement group has had debts; 0 if this process did not watch it
   */
  public record Group(int pg, long blobs, long shards, long bytes, long sinceMs) {
    /** A placement group without debts. */
    public static Group whole(int pg) {
      return new Group(pg, 0, 0, 0, 0);
    }
  }

  /**
   * The placement groups with debts, the oldest first.
   *
   * @param complete whether all debts were counted
   */
  public record Count(boolean complete, List<Group> groups) {
    public Count {
      groups = List.copyOf(groups);
    }
  }

  public GroupDebts(MetadataClient metadata, Clock clock, MeterRegistry meters) {
    this.metadata = metadata;
    this.clock = clock;
    gauge(
        meters,
        "ashlar.repair.debt.groups",
        "Placement groups with blobs that have missing shards",
        List::size);
    gauge(
        meters,
        "ashlar.repair.debt.group.blobs.max",
        "Blobs with missing shards in the placement group that has most of them",
        groups -> groups.stream().mapToLong(Group::blobs).max().orElse(0));
    gauge(
        meters,
        "ashlar.repair.debt.group.age.max",
        "Seconds for which the placement group with the oldest debts has had debts",
        groups -> groups.isEmpty() ? 0 : requireNonNull(seconds(groups.getFirst())));
  }

  /** For how long the placement group has had debts; null if this process did not watch it. */
  public @Nullable Long seconds(Group group) {
    return group.sinceMs() == 0
        ? null
        : TimeUnit.MILLISECONDS.toSeconds(clock.millis() - group.sinceMs());
  }

  /** NaN if this process does not count, because another one does. */
  private void gauge(
      MeterRegistry meters, String name, String description, ToDoubleFunction<List<Group>> value) {
    Meters.gauge(
        meters,
        name,
        description,
        this,
        each -> {
          Count count = each.kept;
          return count == null ? Double.NaN : value.applyAsDouble(count.groups());
        });
  }

  /** A round of the background job: counts, and keeps the result for {@link #now}. */
  public void look() throws MetadataUnavailableException {
    Count count = count(WITHOUT_LIMIT);
    sinceMs.keySet().retainAll(count.groups().stream().map(Group::pg).toList());
    kept = new Count(true, count.groups().stream().map(this::watched).sorted(SLOWEST).toList());
  }

  /** Another process counts. */
  public void forget() {
    sinceMs.clear();
    kept = null;
  }

  private Group watched(Group group) {
    long since = sinceMs.computeIfAbsent(group.pg(), pg -> clock.millis());
    return new Group(group.pg(), group.blobs(), group.shards(), group.bytes(), since);
  }

  /** The last count if it is this process's turn, else a new one of limited duration. */
  public Count now() throws MetadataUnavailableException {
    Count last = kept;
    return last == null ? count(COUNT_MAX) : last;
  }

  /** Counts for at most this long. */
  Count count(Duration limit) throws MetadataUnavailableException {
    long beganNanos = System.nanoTime();
    boolean isComplete = true;
    Map<Integer, Group> groups = new HashMap<>();
    for (DebtLevel level : DebtLevels.inDebt(metadata.debts(), metadata.placement())) {
      BlobId after = null;
      boolean isMore = true;
      while (isMore && System.nanoTime() - beganNanos < limit.toNanos()) {
        DebtsPage page = metadata.blobsInDebt(DebtKind.DEBT_LACKING, level.getSpare(), after, PAGE);
        page.blobs().forEach(row -> add(groups, row));
        after = page.next();
        isMore = after != null;
      }
      isComplete &= !isMore;
    }
    return new Count(isComplete, groups.values().stream().sorted(SLOWEST).toList());
  }

  private static void add(Map<Integer, Group> groups, BlobRow row) {
    StripeLayout layout = BlobRows.layout(row);
    Set<Integer> slots = new TreeSet<>(row.getDebtSlotsList());
    row.getRelocatedShardsList().stream()
        .filter(RelocatedShard::getOut)
        .forEach(place -> slots.add(place.getSlot()));
    slots.removeIf(slot -> layout.shardLength(slot) == 0);
    long bytes = slots.stream().mapToLong(layout::shardLength).sum();
    if (!slots.isEmpty()) {
      groups.merge(row.getPg(), new Group(row.getPg(), 1, slots.size(), bytes, 0), GroupDebts::sum);
    }
  }

  private static Group sum(Group one, Group other) {
    return new Group(
        one.pg(),
        one.blobs() + other.blobs(),
        one.shards() + other.shards(),
        one.bytes() + other.bytes(),
        0);
  }
}
