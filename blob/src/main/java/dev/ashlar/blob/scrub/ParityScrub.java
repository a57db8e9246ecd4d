package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.Meters;
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
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the shards of a few random stripes of each blob with each other. A pass begins at a
 * random placement group, goes through all of them, and then rests until the period is over. A
 * shard that contradicts all others becomes a debt if that proves it wrong; otherwise it is only
 * logged. Used by one thread.
 */
public final class ParityScrub {
  private static final Logger LOG = LoggerFactory.getLogger(ParityScrub.class);
  private static final int PAGE = 64;

  /** Bytes of each shard in a sample, at most. */
  private static final int SAMPLE_BYTES = 64 * 1024;

  private final EngineContext engine;
  private final ParityCheck check;
  private final LossVerifier losses;
  private final ByteRateLimiter pace;
  private final Duration period;
  private final RandomGenerator random;
  private final Counter compared;
  private final Counter inconsistent;
  private final Counter undecided;
  private long passBeganNanos;
  private int groupsLeft;
  private int group;
  private @Nullable BlobId after;

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
   */
  public ParityScrub(EngineContext engine, LossVerifier losses, Pass pass, MeterRegistry meters) {
    this.engine = engine;
    this.check = new ParityCheck(engine);
    this.losses = losses;
    this.pace = pass.rate();
    this.period = pass.period();
    this.random = pass.random();
    this.compared =
        Meters.counter(
            meters,
            "ashlar.scrub.compared.samples",
            "Samples of blobs whose shards were compared with each other");
    this.inconsistent =
        Meters.counter(
            meters,
            "ashlar.scrub.inconsistent.samples",
            "Compared samples whose shards contradict each other");
    this.undecided =
        Meters.counter(
            meters,
            "ashlar.scrub.undecided.samples",
            "Inconsistent samples of which the wrong shard is not known");
  }

  /**
   * A round of the background job: checks the next page of the pass, or begins a pass if it is due.
   *
   * @return whether the pass goes on at once
   */
  public boolean checkNext() throws MetadataUnavailableException, InterruptedException {
    if (groupsLeft == 0 && isDue()) {
      begin();
    }
    if (groupsLeft > 0) {
      checkPage();
    }
    return groupsLeft > 0;
  }

  private boolean isDue() {
    Duration since = Duration.ofNanos(System.nanoTime() - passBeganNanos);
    return passBeganNanos == 0 || since.compareTo(period) >= 0;
  }

  private void begin() {
    passBeganNanos = System.nanoTime();
    groupsLeft = engine.metadata().placement().slotDrives().size();
    group = random.nextInt(groupsLeft);
    after = null;
  }

  /** Makes one whole pass. */
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
      group = (group + 1) % metadata.placement().slotDrives().size();
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
      LOG.debug("Cannot compare shards of {} now: {}", BlobId.of(row.getId()), e.getMessage());
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
    String what =
        "Bytes %d to %d of the shards of blob %s"
            .formatted(range.offset(), range.end(), BlobId.of(row.getId()));
    if (found.slot().isEmpty()) {
      undecided.increment();
      LOG.error(
          "{} contradict each other, and which shard is wrong is not known. Nothing is changed;"
              + " compare the object with another copy",
          what);
      return;
    }
    int slot = found.slot().getAsInt();
    if (!isProof(row, slot)) {
      undecided.increment();
      LOG.error(
          "{}: slot {} contradicts all others, but it may be right, or needed. Nothing is"
              + " changed; compare the object with another copy, and write it again if it is"
              + " wrong",
          what,
          slot);
      return;
    }
    LOG.error("{}: slot {} contradicts the others and will be rebuilt from them", what, slot);
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    ShardStore store = engine.drives().apply(placement.location(row, slot));
    if (losses.recordDebt(row, slot) == Outcome.LOST && store != null) {
      // Otherwise repair would find it whole. If repair is faster, the shard is found lost again.
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
        LOG.debug("Cannot compare shards of {} now: {}", BlobId.of(row.getId()), e.getMessage());
        return false;
      }
    }
    return true;
  }
}
