package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.scrub.LossVerifier.Outcome;
import dev.ashlar.blob.scrub.ParityCheck.Found;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.process.BackgroundThread;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a sample of each blob, a few stripes anywhere in it, and compares the shards of these with
 * each other. It begins anywhere, goes through all placement groups, and rests until the period is
 * over. A shard that contradicts all others becomes a debt if that is proof enough; otherwise it is
 * reported, and everything stays as it is. One thread.
 */
public final class ParityScrub implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ParityScrub.class);
  private static final int PAGE = 64;
  private static final Duration LOOK = Duration.ofSeconds(10);

  /** Of each shard: a sample is no more than that. */
  private static final int SAMPLE_BYTES = 64 * 1024;

  private final EngineContext engine;
  private final ParityCheck check;
  private final LossVerifier losses;
  private final ByteRateLimiter pace;
  private final Duration period;
  private final BooleanSupplier isItsTurn;
  private final RandomGenerator random;
  private final Counter compared;
  private final Counter inconsistent;
  private final Counter undecided;
  private long passBeganNanos;
  private int groupsLeft;
  private int group;
  private @Nullable BlobId after;
  private @Nullable BackgroundThread worker;

  /**
   * How a pass is made.
   *
   * @param rate bytes that are read at most
   * @param period minimum duration
   * @param random chooses where a pass begins, and the samples
   */
  public record Pass(ByteRateLimiter rate, Duration period, RandomGenerator random) {}

  /**
   * @param engine without hedging
   * @param isItsTurn whether this process does it for all
   */
  public ParityScrub(
      EngineContext engine,
      LossVerifier losses,
      Pass pass,
      BooleanSupplier isItsTurn,
      MeterRegistry meters) {
    this.engine = engine;
    this.check = new ParityCheck(engine);
    this.losses = losses;
    this.pace = pass.rate();
    this.period = pass.period();
    this.isItsTurn = isItsTurn;
    this.random = pass.random();
    this.compared =
        Counter.builder("ashlar.scrub.compared.samples")
            .description("Samples of blobs whose shards were compared with each other")
            .register(meters);
    this.inconsistent =
        Counter.builder("ashlar.scrub.inconsistent.samples")
            .description("Of these, those whose shards contradict each other")
            .register(meters);
    this.undecided =
        Counter.builder("ashlar.scrub.undecided.samples")
            .description("Of these, those of which it is not known which shard is wrong")
            .register(meters);
  }

  /** Works until it is closed. */
  public void start() {
    worker = BackgroundThread.start("parity-scrub", this::run);
  }

  private void run() throws InterruptedException {
    while (true) {
      try {
        if (isItsTurn.getAsBoolean()) {
          pass();
        }
      } catch (MetadataUnavailableException e) {
        LOG.debug("the comparison of shards waits for metadata: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("the comparison of shards goes on after a failure", e);
      }
      Thread.sleep(LOOK);
    }
  }

  /** Goes on with the pass, or begins one if it is time. */
  private void pass() throws MetadataUnavailableException, InterruptedException {
    long now = System.nanoTime();
    if (groupsLeft == 0 && (passBeganNanos == 0 || now - passBeganNanos >= period.toNanos())) {
      begin();
    }
    while (groupsLeft > 0 && isItsTurn.getAsBoolean()) {
      checkPage();
    }
  }

  private void begin() {
    passBeganNanos = System.nanoTime();
    groupsLeft = engine.metadata().placement().pgCount();
    group = random.nextInt(groupsLeft);
    after = null;
  }

  /** Takes a sample of every blob once. */
  public void checkAll() throws MetadataUnavailableException, InterruptedException {
    begin();
    while (groupsLeft > 0) {
      checkPage();
    }
  }

  private void checkPage() throws MetadataUnavailableException, InterruptedException {
    MetadataClient metadata = engine.metadata();
    List<BlobRow> page = metadata.blobsOfPlacementGroup(group, after, PAGE);
    for (BlobRow row : page) {
      check(row);
    }
    after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
    if (page.size() < PAGE) {
      after = null;
      group = (group + 1) % metadata.placement().pgCount();
      groupsLeft--;
    }
  }

  private void check(BlobRow row) throws MetadataUnavailableException, InterruptedException {
    if (!ParityCheck.isComparable(row)) {
      return;
    }
    ByteRange range = sample(row);
    pace.take(range.length() * Profile.of(row.getProfile()).shards());
    Found found;
    try (RequestMemory memory = new RequestMemory(engine.memory())) {
      found = check.check(row, range, memory);
    } catch (DataUnavailableException e) {
      LOG.debug("{} is not compared now: {}", BlobId.of(row.getId()), e.getMessage());
      return;
    }
    switch (found.result()) {
      case UNDECIDED -> {}
      case CONSISTENT -> compared.increment();
      case ONE_DIFFERS, INCONSISTENT -> {
        compared.increment();
        tell(row, range, found);
      }
    }
  }

  /** Whole stripes, but for the blob's end. */
  private ByteRange sample(BlobRow row) {
    StripeLayout layout = BlobRows.layout(row);
    long longest = layout.shardLength(0);
    long bytes = sampleBytes(row);
    long places = Math.ceilDiv(longest, bytes);
    long offset = random.nextLong(places) * bytes;
    return new ByteRange(offset, Math.min(bytes, longest - offset));
  }

  private static long sampleBytes(BlobRow row) {
    int unit = BlobRows.layout(row).profile().stripeUnit();
    return (long) Math.max(1, SAMPLE_BYTES / unit) * unit;
  }

  private void tell(BlobRow row, ByteRange range, Found found)
      throws MetadataUnavailableException, InterruptedException {
    inconsistent.increment();
    String what = BlobId.of(row.getId()) + ", bytes " + range + " of its shards";
    if (found.slot().isEmpty()) {
      undecided.increment();
      LOG.error(
          "{}: they contradict each other, and which are wrong is not known. Nothing is changed;"
              + " compare the object with another copy of it",
          what);
      return;
    }
    int slot = found.slot().getAsInt();
    if (!isProof(row, slot)) {
      undecided.increment();
      LOG.error(
          "{}: slot {} contradicts all others, but it may be the one that is right, or be needed."
              + " Nothing is changed; compare the object with another copy of it, and write it"
              + " again if it is wrong",
          what,
          slot);
      return;
    }
    LOG.error("{}: slot {} contradicts the others and is rebuilt from them", what, slot);
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    ShardStore store = engine.drives().apply(placement.location(row, slot));
    if (losses.owe(row, slot) == Outcome.OWED && store != null) {
      // Or repair would find it whole. If it is quicker, the shard is lost next, and found so.
      engine.cleaner().remove(store, ShardId.name(row, slot));
    }
  }

  /**
   * Whether a shard that contradicts all others is the wrong one, and can be rebuilt from them. Not
   * a data shard of a blob that was changed: all parity may have missed the same change, and what
   * is read would become what it was before. All others have to be there and agree to the last
   * byte.
   */
  private boolean isProof(BlobRow row, int slot) throws InterruptedException {
    boolean isData = slot < row.getProfile().getDataShards();
    return !(isData && row.getRevision() > 0) && doAllOthersAgree(row, slot);
  }

  private boolean doAllOthersAgree(BlobRow row, int slot) throws InterruptedException {
    long longest = BlobRows.layout(row).shardLength(0);
    long step = sampleBytes(row);
    for (long from = 0; from < longest; from += step) {
      ByteRange range = new ByteRange(from, Math.min(step, longest - from));
      pace.take(range.length() * Profile.of(row.getProfile()).shards());
      try (RequestMemory memory = new RequestMemory(engine.memory())) {
        if (!check.check(row, range, memory).isRightWithout(slot)) {
          return false;
        }
      } catch (DataUnavailableException e) {
        LOG.debug("{} is not compared now: {}", BlobId.of(row.getId()), e.getMessage());
        return false;
      }
    }
    return true;
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    BackgroundThread running = worker;
    if (running != null) {
      running.close();
    }
  }
}
