package dev.ashlar.blob.repair;

import static java.util.Objects.requireNonNull;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.RelocatedShard;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.process.BackgroundThread;
import io.micrometer.core.instrument.Gauge;
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
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What each placement group owes, and for how long: the slowest one tells whether repair gets
 * anywhere. Metadata counts by level only, so this goes through what is owed, page by page, and
 * rests ten times as long. For many threads.
 */
public final class GroupDebts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupDebts.class);
  private static final int PAGE = 200;
  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final int REST_FACTOR = 10;

  /** A count that somebody waits for ends after so long, with what it has. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Duration WITHOUT_HASTE = Duration.ofDays(1);

  private static final Comparator<Group> SLOWEST =
      Comparator.comparingLong(Group::sinceMs)
          .thenComparing(Group::blobs, Comparator.reverseOrder())
          .thenComparing(Group::pg);

  private final MetadataClient metadata;
  private final Clock clock;

  /** When each group that owes was first found so. Used by one thread. */
  private final Map<Integer, Long> sinceMs = new HashMap<>();

  private volatile @Nullable Count kept;
  private @Nullable BackgroundThread worker;

  /**
   * What the blobs of a group lack. Shards on drives that were taken out are lacking, too.
   *
   * @param sinceMs when the group was first seen to lack something, as it has since; 0 where nobody
   *     has watched it
   */
  public record Group(int pg, long blobs, long shards, long bytes, long sinceMs) {
    /** One that lacks nothing. */
    public static Group whole(int pg) {
      return new Group(pg, 0, 0, 0, 0);
    }
  }

  /**
   * The groups that lack anything, those first that have for longest.
   *
   * @param complete whether all that is owed was counted
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
        "ashlar.repair.owing.groups",
        "Placement groups with blobs that lack a shard",
        List::size);
    gauge(
        meters,
        "ashlar.repair.owing.group.blobs.max",
        "Blobs that lack a shard in the placement group that has most of them",
        groups -> groups.stream().mapToLong(Group::blobs).max().orElse(0));
    gauge(
        meters,
        "ashlar.repair.owing.group.age.max",
        "Seconds for which the placement group has lacked something that has for longest",
        groups -> groups.isEmpty() ? 0 : requireNonNull(seconds(groups.getFirst())));
  }

  /** For how long the group has lacked something; null where nobody has watched it. */
  public @Nullable Long seconds(Group group) {
    return group.sinceMs() == 0
        ? null
        : TimeUnit.MILLISECONDS.toSeconds(clock.millis() - group.sinceMs());
  }

  /** NaN where nothing was counted: elsewhere it is. */
  private void gauge(
      MeterRegistry meters, String name, String description, ToDoubleFunction<List<Group>> value) {
    Gauge.builder(
            name,
            this,
            each -> {
              Count count = each.kept;
              return count == null ? Double.NaN : value.applyAsDouble(count.groups());
            })
        .description(description)
        .register(meters);
  }

  /**
   * Counts again and again until it is closed.
   *
   * @param isItsTurn whether this process is the one that is to do it
   */
  public void start(BooleanSupplier isItsTurn) {
    worker = BackgroundThread.start("group-debts", () -> run(isItsTurn));
  }

  private void run(BooleanSupplier isItsTurn) throws InterruptedException {
    while (true) {
      long beganNanos = System.nanoTime();
      try {
        look(isItsTurn.getAsBoolean());
      } catch (MetadataUnavailableException e) {
        LOG.debug("what is owed is not counted: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("what is owed is not counted", e);
      }
      long rest = REST_FACTOR * (System.nanoTime() - beganNanos);
      TimeUnit.NANOSECONDS.sleep(Math.max(INTERVAL.toNanos(), rest));
    }
  }

  /** Counts, and keeps it. */
  void look(boolean isItsTurn) throws MetadataUnavailableException {
    if (isItsTurn) {
      Count count = count(WITHOUT_HASTE);
      sinceMs.keySet().retainAll(count.groups().stream().map(Group::pg).toList());
      kept = new Count(true, count.groups().stream().map(this::watched).sorted(SLOWEST).toList());
    } else {
      sinceMs.clear();
      kept = null;
    }
  }

  private Group watched(Group group) {
    long since = sinceMs.computeIfAbsent(group.pg(), pg -> clock.millis());
    return new Group(group.pg(), group.blobs(), group.shards(), group.bytes(), since);
  }

  /** As it was counted last if it is this process's turn, else what can be counted just now. */
  public Count now() throws MetadataUnavailableException {
    Count last = kept;
    return last == null ? count(PATIENCE) : last;
  }

  /** Counts for so long at most. */
  Count count(Duration limit) throws MetadataUnavailableException {
    long beganNanos = System.nanoTime();
    boolean isComplete = true;
    Map<Integer, Group> groups = new HashMap<>();
    int spareOfWhole = metadata.placement().profile().parityShards();
    for (DebtLevel level : metadata.debts()) {
      BlobId after = null;
      boolean isMore = level.getSpare() < spareOfWhole;
      while (isMore && System.nanoTime() - beganNanos < limit.toNanos()) {
        List<BlobRow> page = metadata.blobsInDebt(level.getSpare(), after, PAGE);
        page.forEach(row -> add(groups, row));
        isMore = page.size() == PAGE;
        after = isMore ? BlobId.of(page.getLast().getId()) : null;
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

  /** Ends the counting. */
  @Override
  public void close() {
    BackgroundThread running = worker;
    if (running != null) {
      running.close();
    }
  }
}
