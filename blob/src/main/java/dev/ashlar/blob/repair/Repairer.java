package dev.ashlar.blob.repair;

import dev.ashlar.blob.repair.BlobRepair.Outcome;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.process.BackgroundThread;
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
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs what blobs owe, in the background: first those that can lose the fewest more shards. It
 * remembers nothing that it needs, because all that is owed stands in metadata; so it may end
 * anywhere, and where two work, each finds done what the other has. One thread.
 */
public final class Repairer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Repairer.class);
  private static final int PAGE = 64;

  /** Where much is owed that cannot be had now, looking at it takes a tenth of the time. */
  private static final int REST_FACTOR = 10;

  private static final long REST_NANOS_MAX = TimeUnit.MINUTES.toNanos(1);

  /** As metrics have it, however many shards are too few. */
  private static final int UNREADABLE = -1;

  private final MetadataClient metadata;
  private final BlobRepair blobs;
  private final ChangedDrives changed;
  private final RepairConfig config;
  private final BooleanSupplier isItsTurn;
  private final Semaphore places;

  /** Per level the last blob that was looked at; a level that has come to its end begins again. */
  private final Map<Integer, BlobId> positions = new HashMap<>();

  private volatile @Nullable Look lastLook;
  private final RepairLog log = new RepairLog();

  /** Whether what changed drives have is known; otherwise the next round goes on with that. */
  private boolean isSettled = true;

  private @Nullable BackgroundThread worker;

  /**
   * What was owed, complete.
   *
   * @param drives in the lives that they had before
   * @param epoch of the placement map before: with a later one a drive may be out
   */
  private record Look(List<DebtLevel> levels, Map<UUID, DriveId> drives, long epoch) {
    boolean isOf(MetadataClient metadata) {
      return drives.equals(metadata.drives()) && epoch == metadata.placement().epoch();
    }
  }

  /**
   * @param isItsTurn whether this process is the one that is to do it
   */
  public Repairer(
      MetadataClient metadata,
      BlobRepair blobs,
      RepairConfig config,
      BooleanSupplier isItsTurn,
      MeterRegistry meters) {
    this.metadata = metadata;
    this.blobs = blobs;
    this.changed = new ChangedDrives(metadata);
    this.config = config;
    this.isItsTurn = isItsTurn;
    this.places = new Semaphore(config.blobsAtOnce());
    Gauge.builder(
            "ashlar.repair.owing.blobs", this, each -> each.sum(DebtLevel::getBlobs, this::isOwing))
        .description("Blobs that lack a shard")
        .register(meters);
    Gauge.builder("ashlar.repair.owing", this, each -> each.sum(DebtLevel::getBytes, this::isOwing))
        .description("Bytes of shards that are lacking")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder(
            "ashlar.rebalance.moving.blobs",
            this,
            each -> each.sum(DebtLevel::getBlobs, level -> !isOwing(level)))
        .description("Blobs that have all shards, some of which are to be on other drives")
        .register(meters);
    Gauge.builder(
            "ashlar.rebalance.moving",
            this,
            each -> each.sum(DebtLevel::getBytes, level -> !isOwing(level)))
        .description("Bytes of these shards")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder("ashlar.repair.endangered.blobs", this, Repairer::endangered)
        .description("Blobs that the loss of one more drive would make unreadable, or that are")
        .register(meters);
    for (int spare = UNREADABLE; spare < spareOfWhole(); spare++) {
      measureLevel(spare, meters);
    }
  }

  private void measureLevel(int spare, MeterRegistry meters) {
    Gauge.builder(
            "ashlar.repair.owing.level.blobs",
            this,
            each ->
                each.sum(
                    DebtLevel::getBlobs, level -> Math.max(level.getSpare(), UNREADABLE) == spare))
        .tag("spare", Integer.toString(spare))
        .description("Blobs that lack a shard and may lose so many more; -1: they cannot be read")
        .register(meters);
  }

  /** Works until it is closed. */
  public void start() {
    worker = BackgroundThread.start("repair", this::run);
  }

  /**
   * NaN where it has not looked, because it is not its turn, or not since a drive began another
   * life or the placement map changed.
   */
  private double sum(ToLongFunction<DebtLevel> part, Predicate<DebtLevel> levels) {
    Look look = lastLook;
    return look == null || !look.isOf(metadata)
        ? Double.NaN
        : look.levels().stream().filter(levels).mapToLong(part).sum();
  }

  private boolean isOwing(DebtLevel level) {
    return level.getSpare() < spareOfWhole();
  }

  private double endangered() {
    return sum(DebtLevel::getBlobs, level -> isOwing(level) && level.getSpare() <= 0);
  }

  private void run() throws InterruptedException {
    while (true) {
      long beganNanos = System.nanoTime();
      long repaired = 0;
      isSettled = true;
      try {
        if (isItsTurn.getAsBoolean()) {
          repaired = round();
        } else {
          lastLook = null;
        }
      } catch (MetadataUnavailableException e) {
        LOG.debug("repair waits for metadata: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("repair goes on after a failure", e);
      }
      if (repaired == 0 && isSettled) {
        long rest = Math.min(REST_FACTOR * (System.nanoTime() - beganNanos), REST_NANOS_MAX);
        TimeUnit.NANOSECONDS.sleep(Math.max(config.interval().toNanos(), rest));
      }
    }
  }

  /**
   * Looks what is owed, and repairs for a while.
   *
   * @return how many blobs it has repaired
   */
  public long round() throws MetadataUnavailableException, InterruptedException {
    Map<UUID, DriveId> drives = metadata.drives();
    long epoch = metadata.placement().epoch();
    isSettled = changed.settle(config.slice());
    List<DebtLevel> owed = metadata.debts();
    lastLook = isSettled ? new Look(owed, drives, epoch) : null;
    int spareOfWhole = spareOfWhole();
    log.looked(owed.stream().filter(level -> level.getSpare() < spareOfWhole).toList(), isSettled);
    long repaired = 0;
    for (DebtLevel level : owed) {
      boolean isOwed = level.getSpare() < spareOfWhole;
      repaired = isOwed || !metadata.registry().getPaused() ? repair(level.getSpare()) : 0;
      if (repaired > 0) {
        break; // look again: others may be more endangered by now
      }
    }
    return repaired;
  }

  /** How many shards a blob may lose that has all of them; those on this level are moved only. */
  private int spareOfWhole() {
    return metadata.placement().profile().parityShards();
  }

  /** Repairs blobs of a level, for a slice of time at most. */
  private long repair(int spare) throws MetadataUnavailableException, InterruptedException {
    long beganNanos = System.nanoTime();
    long repaired = 0;
    do {
      List<BlobRow> page = metadata.blobsInDebt(spare, positions.get(spare), PAGE);
      List<BlobRow> begun = new ArrayList<>();
      repaired += repair(page, begun, beganNanos);
      if (begun.size() == page.size() && page.size() < PAGE) {
        positions.remove(spare);
        return repaired;
      }
      positions.put(spare, BlobId.of(begun.getLast().getId()));
    } while (!isOver(beganNanos));
    return repaired;
  }

  private boolean isOver(long beganNanos) {
    return System.nanoTime() - beganNanos >= config.slice().toNanos();
  }

  /**
   * Repairs blobs until the slice of time is over, but at least one.
   *
   * @param begun gets those that it came to
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
        LOG.warn("a blob was not repaired", e.getCause());
      }
    }
    return repaired;
  }

  private boolean repair(BlobId id) throws MetadataUnavailableException, InterruptedException {
    return blobs.repair(id) == Outcome.REPAIRED;
  }

  /** Ends the background thread; what it was at is removed. */
  @Override
  public void close() {
    BackgroundThread running = worker;
    if (running != null) {
      running.close();
    }
  }
}
