package dev.ashlar.blob.repair;

import dev.ashlar.blob.context.Meters;
import dev.ashlar.blob.repair.BlobRepair.Outcome;
import dev.ashlar.protocol.client.DebtsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DebtLevels;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Repairs the debts of blobs in the background, starting with the blobs that can lose the fewest
 * further shards. Blobs that only have to move wait until no debt can be repaired. All debts are
 * recorded in metadata, so a repairer may stop anywhere, and several may run at once: each finds
 * what another has repaired already. Used by one thread.
 */
public final class Repairer {
  private static final Logger LOG = LoggerFactory.getLogger(Repairer.class);
  private static final RateLimitedLog FAILURES = new RateLimitedLog(LOG, Level.WARN);
  private static final int PAGE = 64;

  /** Spare shards of an unreadable blob in metrics, however many it lacks. */
  private static final int UNREADABLE = -1;

  private final MetadataClient metadata;
  private final BlobRepair blobs;
  private final ChangedDrives changed;
  private final RepairConfig config;
  private final Semaphore places;
  private final MeterRegistry meters;

  /** The least that has no gauge. */
  private int nextLevel = UNREADABLE;

  /** Per level the last blob with debts that was visited; absent at the beginning of the level. */
  private final Map<Integer, BlobId> debtVisits = new HashMap<>();

  /** The same of blobs that have to move. */
  private final Map<Integer, BlobId> moveVisits = new HashMap<>();

  private volatile @Nullable Look lastLook;
  private final RepairLog log = new RepairLog();

  /** Whether the debts of all changed drives are noted; if not, the next round continues. */
  private boolean isSettled = true;

  /**
   * All debts at some time.
   *
   * @param drives the incarnations of the drives before
   * @param epoch of the placement map before: with a later one a drive may be out
   */
  private record Look(
      List<DebtLevel> inDebt, List<DebtLevel> moving, Map<UUID, DriveId> drives, long epoch) {
    boolean isOf(MetadataClient metadata) {
      return drives.equals(metadata.drives()) && epoch == metadata.placement().epoch();
    }
  }

  public Repairer(
      MetadataClient metadata, BlobRepair blobs, RepairConfig config, MeterRegistry meters) {
    this.metadata = metadata;
    this.blobs = blobs;
    this.changed = new ChangedDrives(metadata);
    this.config = config;
    this.meters = meters;
    this.places = new Semaphore(config.blobsAtOnce());
    gauge(
        meters,
        "ashlar.repair.debt.blobs",
        "Blobs with a missing shard",
        each -> each.sum(DebtLevel::getBlobs, Look::inDebt));
    byteGauge(
        meters,
        "ashlar.repair.debt",
        "Bytes of missing shards",
        each -> each.sum(DebtLevel::getBytes, Look::inDebt));
    gauge(
        meters,
        "ashlar.rebalance.moving.blobs",
        "Blobs with all shards, some of which have to move to other drives",
        each -> each.sum(DebtLevel::getBlobs, Look::moving));
    byteGauge(
        meters,
        "ashlar.rebalance.moving",
        "Bytes of shards that have to move",
        each -> each.sum(DebtLevel::getBytes, Look::moving));
    gauge(
        meters,
        "ashlar.repair.endangered.blobs",
        "Blobs that are unreadable, or would be after the loss of one more drive",
        Repairer::endangered);
    watchLevels(metadata.placement());
  }

  /** Has a gauge for each level, also of profiles that were added meanwhile. */
  private void watchLevels(PlacementMap map) {
    for (; nextLevel < spareMax(map); nextLevel++) {
      int level = nextLevel;
      gauge(
          meters,
          "ashlar.repair.debt.level.blobs",
          "Blobs with a missing shard, by how many more they may lose; -1: unreadable",
          each ->
              each.sum(
                  DebtLevel::getBlobs,
                  look -> only(look.inDebt(), of -> Math.max(of, UNREADABLE) == level)),
          "spare",
          Integer.toString(level));
    }
  }

  private void gauge(
      MeterRegistry meters,
      String name,
      String description,
      ToDoubleFunction<Repairer> value,
      String... tags) {
    Meters.gauge(meters, name, description, this, value, tags);
  }

  private void byteGauge(
      MeterRegistry meters, String name, String description, ToDoubleFunction<Repairer> value) {
    Gauge.builder(name, this, value).description(description).baseUnit("bytes").register(meters);
  }

  /**
   * NaN if this process has not looked, because it is not its turn, or since a drive began a new
   * incarnation or the placement map changed.
   */
  private double sum(ToLongFunction<DebtLevel> part, Function<Look, List<DebtLevel>> levels) {
    Look look = lastLook;
    return look == null || !look.isOf(metadata)
        ? Double.NaN
        : levels.apply(look).stream().mapToLong(part).sum();
  }

  /** The most shards that a blob of any profile may lose. */
  private static int spareMax(PlacementMap map) {
    return map.present().stream()
        .mapToInt(placed -> placed.profile().parityShards())
        .max()
        .orElse(0);
  }

  private static List<DebtLevel> only(List<DebtLevel> levels, IntPredicate spare) {
    return levels.stream().filter(level -> spare.test(level.getSpare())).toList();
  }

  private double endangered() {
    return sum(DebtLevel::getBlobs, look -> only(look.inDebt(), spare -> spare <= 0));
  }

  /** A round of the background job; returns whether there is more to do at once. */
  public boolean work() throws MetadataUnavailableException, InterruptedException {
    return round() > 0 || !isSettled;
  }

  /** Another process repairs: what was seen here says nothing any more. */
  public void forget() {
    lastLook = null;
  }

  /**
   * Reads the debts, and repairs for a while.
   *
   * @return how many blobs were repaired
   */
  public long round() throws MetadataUnavailableException, InterruptedException {
    Map<UUID, DriveId> drives = metadata.drives();
    PlacementMap map = metadata.placement();
    watchLevels(map);
    isSettled = changed.settle(config.slice());
    List<DebtLevel> debts = metadata.debts();
    List<DebtLevel> inDebt = DebtLevels.inDebt(debts, map);
    List<DebtLevel> moving = DebtLevels.moving(debts, map);
    lastLook = isSettled ? new Look(inDebt, moving, drives, map.epoch()) : null;
    log.looked(inDebt, isSettled);
    long repaired = repair(DebtKind.DEBT_LACKING, inDebt, debtVisits);
    boolean mayMove = repaired == 0 && !moving.isEmpty() && !metadata.registry().getPaused();
    return mayMove ? repair(DebtKind.DEBT_MOVING, moving, moveVisits) : repaired;
  }

  /** Repairs blobs of the first of these levels where any can be. */
  private long repair(DebtKind kind, List<DebtLevel> levels, Map<Integer, BlobId> visits)
      throws MetadataUnavailableException, InterruptedException {
    for (DebtLevel level : levels) {
      long repaired = repair(kind, level.getSpare(), visits);
      if (repaired > 0) {
        return repaired; // look again: others may be more endangered by now
      }
    }
    return 0;
  }

  /** Repairs blobs of a level, for at most a slice of time. */
  private long repair(DebtKind kind, int spare, Map<Integer, BlobId> visits)
      throws MetadataUnavailableException, InterruptedException {
    long beganNanos = System.nanoTime();
    long repaired = 0;
    do {
      DebtsPage page = metadata.blobsInDebt(kind, spare, visits.get(spare), PAGE);
      List<BlobRow> begun = new ArrayList<>();
      repaired += repair(page.blobs(), begun, beganNanos);
      boolean isWhole = begun.size() == page.blobs().size();
      BlobId next = isWhole ? page.next() : BlobId.of(begun.getLast().getId());
      if (next == null) {
        visits.remove(spare);
        return repaired;
      }
      visits.put(spare, next);
    } while (!isOver(beganNanos));
    return repaired;
  }

  private boolean isOver(long beganNanos) {
    return System.nanoTime() - beganNanos >= config.slice().toNanos();
  }

  /**
   * Repairs blobs until the slice of time is over, but at least one.
   *
   * @param begun receives the blobs that were visited
   */
  private long repair(List<BlobRow> page, List<BlobRow> begun, long beganNanos)
      throws MetadataUnavailableException, InterruptedException {
    if (config.blobsAtOnce() == 1) {
      long repaired = 0;
      for (BlobRow row : page) {
        repaired += repair(BlobId.of(row.getId())) ? 1 : 0;
        begun.add(row);
        if (isOver(beganNanos)) {
          break;
        }
      }
      return repaired;
    }
    List<Future<Boolean>> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (BlobRow row : page) {
        if (!begun.isEmpty() && isOver(beganNanos)) {
          break; // something more urgent may wait, for as long as these few take
        }
        begun.add(row);
        acquirePlace(threads);
        results.add(
            threads.submit(
                () -> {
                  try {
                    return repair(BlobId.of(row.getId()));
                  } finally {
                    places.release();
                  }
                }));
      }
    }
    return count(results);
  }

  private void acquirePlace(ExecutorService threads) throws InterruptedException {
    try {
      places.acquire();
    } catch (InterruptedException e) {
      threads.shutdownNow();
      throw e;
    }
  }

  private static long count(List<Future<Boolean>> results)
      throws MetadataUnavailableException, InterruptedException {
    long repaired = 0;
    for (Future<Boolean> result : results) {
      try {
        repaired += result.get() ? 1 : 0;
      } catch (ExecutionException e) {
        if (e.getCause() instanceof MetadataUnavailableException failure) {
          throw failure;
        }
        if (e.getCause() instanceof InterruptedException) {
          throw new InterruptedException("repair ends");
        }
        FAILURES.log("Repair of a blob failed", e.getCause());
      }
    }
    return repaired;
  }

  private boolean repair(BlobId id) throws MetadataUnavailableException, InterruptedException {
    return blobs.repair(id) == Outcome.REPAIRED;
  }
}
