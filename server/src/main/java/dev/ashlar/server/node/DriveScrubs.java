package dev.ashlar.server.node;

import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.blob.scrub.LightScrub;
import dev.ashlar.blob.scrub.LossVerifier;
import dev.ashlar.metadata.garbage.DeadSessionSweep;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.garbage.LiveSessions;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.server.admin.ScrubPage;
import dev.ashlar.server.config.BackgroundOptions;
import dev.ashlar.server.jobs.PeriodicJobs;
import dev.ashlar.server.jobs.PeriodicJobs.Rest;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after what the drives of this process hold: each reads all of it in time (deep), and one
 * thread compares what they hold with metadata (light). What lacks or is damaged becomes owed, and
 * so is repaired; what dead sessions have left and nobody needs is removed, soon after a session
 * has ended and with each light pass.
 */
final class DriveScrubs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveScrubs.class);
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  /** After the start, which has enough to do. */
  private static final Duration FIRST_LIGHT = Duration.ofMinutes(1);

  private static final long MEMORY_BYTES = 8L << 20;
  private static final Duration DRIVE_DEADLINE = Duration.ofSeconds(10);
  private static final int ADD_TRIES = 50;
  private static final long ADD_PAUSE_MS = 100;

  private final BackgroundOptions options;
  private final MetadataClient metadata;
  private final Map<UUID, DriveStore> drives;
  private final SuspectShardQueue suspects = new SuspectShardQueue();
  private final LossVerifier losses;
  private final LightScrub light;
  private final DeadSessionSweep sweep;
  private final Clock clock;
  private final Counter orphans;
  private final Counter missing;
  private final PeriodicJobs jobs;
  private final Map<UUID, ScrubPage.Light> lightPages = new ConcurrentHashMap<>();
  private volatile boolean isWanted;
  private volatile long lightStartedMs;
  private volatile long lightFinishedMs;
  private @Nullable LiveSessions seen;

  DriveScrubs(
      BackgroundOptions options,
      MetadataClient metadata,
      Collection<DriveStore> stores,
      Clock clock,
      MeterRegistry meters) {
    this.options = options;
    this.metadata = metadata;
    this.clock = clock;
    drives = new ConcurrentHashMap<>();
    stores.forEach(store -> drives.put(store.drive().id(), store));
    MemoryBudget memory = new MemoryBudget(MEMORY_BYTES, DRIVE_DEADLINE);
    losses =
        new LossVerifier(
            new LossVerifier.Dependencies(metadata, drives::get, memory, DRIVE_DEADLINE),
            suspects,
            "scrub",
            meters);
    light = new LightScrub(metadata, suspects);
    sweep = new DeadSessionSweep(metadata, GarbageConfig.DEFAULT.deleteTimeout());
    orphans =
        Counter.builder("ashlar.scrub.orphans")
            .description("Shards and intents of ended sessions that were removed from drives")
            .register(meters);
    missing =
        Counter.builder("ashlar.scrub.missing.shards")
            .description("Shards missing in the indexes of drives, before a second look")
            .register(meters);
    Gauge.builder("ashlar.scrub.light.finished", this, each -> each.lightFinishedMs / 1000.0)
        .description("End of the last comparison with metadata, in seconds since 1970; 0: none")
        .register(meters);
    lightStartedMs = clock.millis() - options.lightScrubPeriod().minus(FIRST_LIGHT).toMillis();
    jobs = new PeriodicJobs(() -> true, meters);
    for (DriveStore store : stores) {
      store.startScrub(options.scrub(), this::damaged);
    }
    losses.start();
    jobs.start("light-scrub", Duration.ZERO, Rest.of(INTERVAL), this::round, () -> {});
  }

  /** From now on also this drive, which was not there before. */
  void add(DriveStore store) {
    drives.put(store.drive().id(), store);
    store.startScrub(options.scrub(), this::damaged);
  }

  /** On a thread of the drive: where much is damaged, it waits until some of it was looked at. */
  private void damaged(ShardId shard, ByteRange range, ShardFault fault) {
    Suspect suspect = new Suspect(shard, range, fault);
    for (int i = 0; !suspects.add(suspect) && i < ADD_TRIES; i++) {
      try {
        TimeUnit.MILLISECONDS.sleep(ADD_PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Begins both kinds of pass at once. */
  void startNow() {
    isWanted = true;
    drives.values().forEach(DriveStore::scrubNow);
  }

  ScrubPage page() {
    List<ScrubPage.Drive> page = new ArrayList<>();
    for (DriveStore store : drives.values()) {
      UUID id = store.drive().id();
      page.add(ScrubPage.Drive.of(id, store.scrubProgress(), lightPages.get(id), clock.millis()));
    }
    return new ScrubPage(page);
  }

  private boolean round() throws MetadataUnavailableException, InterruptedException {
    Registry registry = metadata.registry();
    if (registry.getEpoch() == 0) {
      return false; // nothing can have been written
    }
    LiveSessions live = LiveSessions.of(registry);
    LiveSessions before = seen;
    Set<Long> ended = before == null ? Set.of() : live.endedSince(before);
    if (!ended.isEmpty()) {
      LOG.info(
          "{} sessions have ended; removing their uncommitted data from the drives.", ended.size());
      removeLeftovers(live.newest(), session -> ended.contains(session) && live.isDead(session));
    }
    seen = live;
    long sinceMs = clock.millis() - lightStartedMs;
    boolean isPeriodic = !options.lightScrubPeriod().equals(ScrubConfig.WHEN_ASKED);
    if (isWanted || (isPeriodic && sinceMs >= options.lightScrubPeriod().toMillis())) {
      isWanted = false;
      lightStartedMs = clock.millis();
      pass(live);
    }
    return false;
  }

  private long removeLeftovers(long below, LongPredicate isDead)
      throws MetadataUnavailableException, InterruptedException {
    long removed = 0;
    for (DriveStore store : drives.values()) {
      removed += sweep.sweep(store, below, isDead);
    }
    orphans.increment((double) removed);
    return removed;
  }

  private void pass(LiveSessions live) throws MetadataUnavailableException, InterruptedException {
    for (DriveStore store : drives.values()) {
      long startedMs = clock.millis();
      long removed = sweep.sweep(store, live.newest(), live::isDead);
      orphans.increment((double) removed);
      try {
        LightScrub.Found found = light.look(store.drive().id(), store::firstMissing);
        missing.increment((double) found.suspects());
        lightPages.put(
            store.drive().id(),
            new ScrubPage.Light(
                startedMs, clock.millis(), found.shards(), found.suspects(), removed));
      } catch (ShardException e) {
        LOG.warn("Drive {} could not be compared with metadata: {}", store.drive(), e.getMessage());
      }
    }
    lightFinishedMs = clock.millis();
  }

  @Override
  public void close() {
    jobs.close();
    losses.close();
  }
}
