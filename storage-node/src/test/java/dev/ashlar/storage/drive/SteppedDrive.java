package dev.ashlar.storage.drive;

import static java.util.Objects.requireNonNull;

import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.AttemptPage;
import dev.ashlar.storage.drive.index.MemoryShardIndex;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogWriteException;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.scrub.DamageListener;
import dev.ashlar.storage.drive.scrub.SegmentVerifier;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.SimulatedDrive;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@link DriveStore} without its threads: the same engine on simulated files, which does something
 * only when it is told to. What it does then, and to how many requests at once, is drawn from the
 * given source of chance.
 */
public final class SteppedDrive implements ShardStore {
  /** Segments so small that runs of some hundred writes compact them. */
  private static final DriveConfig.Limits LIMITS =
      new DriveConfig.Limits(
          128 << 10,
          Long.MAX_VALUE,
          128 << 10,
          4096,
          64 << 20,
          4096,
          64 << 10,
          1,
          1,
          Duration.ofHours(1),
          Duration.ofHours(1));

  private final Medium medium;
  private final DriveCore core;
  private final IntentBuilder intents;
  private final Compactor compactor;
  private final ExtentMerger coalescer;
  private final ArrayDeque<LogRequest> writes = new ArrayDeque<>();
  private final List<Read> reads = new ArrayList<>();
  private State state = State.OPEN;
  private boolean hasFailed;
  private int answersToLose;
  private int requestsToRefuse;
  private int requestsToLose;
  private int requestsToLoseAfterIntent;
  private int attemptsToLose;
  private final Set<AttemptOfShard> begun = new HashSet<>();
  private final Set<AttemptOfShard> lostIntents = new HashSet<>();

  private enum State {
    OPEN,
    READ_ONLY,
    DEAD
  }

  /** What of a drive outlives its process. */
  public static final class Medium {
    private final UUID id;
    private SimulatedDrive disk;
    private MemoryShardIndex index = new MemoryShardIndex();
    private final Random random;
    private long formattedSecond = 1;

    public Medium(UUID id, Random random) {
      this.id = id;
      this.random = random;
      disk = new SimulatedDrive(random, Long.MAX_VALUE);
    }

    public UUID id() {
      return id;
    }

    public SimulatedDrive disk() {
      return disk;
    }

    /** An empty one is in its place, formatted later than any life before. */
    public void replace() {
      disk = new SimulatedDrive(random, Long.MAX_VALUE);
      index = new MemoryShardIndex();
      formattedSecond += 1000;
    }

    /** The process is gone; what it had handed to the kernel is not. */
    public void afterKill() {
      disk.restart();
      index.crash(random);
    }

    /** Power is back. */
    public void afterPowerLoss() {
      disk.reboot();
      index.crash(random);
    }
  }

  /** What drives share. */
  public record Parts(SlabPool slabs, Function<Profile, ErasureCode> codes) {}

  private interface Task {
    Runnable run() throws ShardException;
  }

  private record AttemptOfShard(ShardId shard, AttemptId attempt) {}

  private record Read(Task task, Completion<?> completion) {}

  private SteppedDrive(Medium medium, Parts parts, DriveCore core) {
    this.medium = medium;
    this.core = core;
    intents = core.newIntentMaker(parts.codes());
    compactor = core.newCompactor((request, bytes) -> alone(request.apply(new Answer<>())));
    coalescer =
        core.newCoalescer(
            (shard, bases, patches, payload, crcs) ->
                alone(new LogRequest.Merge(shard, bases, patches, payload, crcs, new Answer<>())));
  }

  /** Starts the engine: formats an empty medium, recovers a used one. */
  public static SteppedDrive open(Medium medium, Parts parts) throws IOException {
    DriveCore.OpenContext setting =
        new DriveCore.OpenContext(TestDrives.CLUSTER, medium.id, medium.formattedSecond);
    DriveCore.identify(medium.disk, setting);
    DriveCore.Parts logParts =
        new DriveCore.Parts(
            medium.index, parts.slabs(), DriveSimulation.FEW_RECENT, DriveSimulation.METERS);
    return new SteppedDrive(medium, parts, new DriveCore(medium.disk, LIMITS, setting, logParts));
  }

  /** Whether any request waits. */
  public boolean hasWork() {
    return !writes.isEmpty() || !reads.isEmpty();
  }

  /**
   * Does one read, or makes some of the waiting writes durable. Throws {@link
   * SimulatedDrive.PowerLoss} in the midst of it; {@link #die} tells those who wait.
   */
  public void step() {
    Random random = medium.random;
    if (!reads.isEmpty() && (writes.isEmpty() || random.nextBoolean())) {
      runRead(reads.remove(random.nextInt(reads.size())));
    } else if (state == State.READ_ONLY) {
      LogRequest next = writes.remove();
      fail(next.completion(), ShardFault.READ_ONLY);
    } else if (!writes.isEmpty()) {
      commitSome(1 + random.nextInt(Math.min(8, writes.size())));
    }
  }

  /** A bit of what the housekeeper does. */
  public void keep() {
    if (state != State.OPEN) {
      return;
    }
    try {
      switch (medium.random.nextInt(5)) {
        case 0 -> core.segments().prepare(core.log().activeRoomBytes());
        case 1 -> core.index().checkpoint();
        case 2 -> core.log().confirm();
        case 3 -> {
          if (compactor.emptyOne()) {
            compactor.free();
          }
        }
        default -> coalescer.mergeOne();
      }
    } catch (ShardException e) {
      if (e.fault() != ShardFault.FULL) {
        throw new AssertionError("housekeeping", e);
      }
    } catch (IOException e) {
      writesFailed(e);
    }
  }

  private void runRead(Read read) {
    Runnable told;
    try {
      told = read.task().run();
    } catch (ShardException e) {
      read.completion().failed(e);
      return;
    }
    told.run();
  }

  private void commitSome(int count) {
    SegmentLog log = core.log();
    try {
      for (int i = 0; i < count && log.add(writes.element()); i++) {
        writes.remove();
      }
      log.commit();
    } catch (IOException e) {
      writesFailed(e);
      log.accepted().forEach(request -> fail(request.completion(), ShardFault.IO_ERROR));
      log.rejected().forEach(request -> fail(request.completion(), ShardFault.FULL));
      log.clear();
      return;
    }
    List<LogRequest> done = List.copyOf(log.accepted());
    List<LogRequest> rejected = List.copyOf(log.rejected());
    log.clear();
    for (LogRequest request : done) {
      if (answersToLose > 0) {
        answersToLose--;
        fail(request.completion(), ShardFault.UNAVAILABLE);
      } else {
        request.completion().succeeded(core.drive());
      }
    }
    rejected.forEach(request -> fail(request.completion(), ShardFault.FULL));
  }

  private void alone(LogRequest request) throws IOException, ShardException {
    SegmentLog log = core.log();
    if (!log.add(request)) {
      throw new AssertionError("needs an empty batch: " + request);
    }
    log.commit();
    boolean isRefused = !log.rejected().isEmpty();
    log.clear();
    if (isRefused) {
      throw new ShardException(ShardFault.FULL, "no room for it");
    }
  }

  /** Only what fails in the log leaves in doubt what it has. */
  private void writesFailed(IOException cause) {
    state = State.READ_ONLY;
    if (cause instanceof LogWriteException) {
      hasFailed = true;
      try {
        core.endIncarnation();
      } catch (IOException e) {
        // It goes on in its present life: nothing that it acknowledged is in doubt.
      }
    }
  }

  /**
   * Reads all that is live.
   *
   * @return how many blocks are damaged
   */
  public long scrub(DamageListener listener) throws IOException {
    if (state != State.OPEN) {
      return 0;
    }
    long damaged = 0;
    for (Segment segment : List.copyOf(core.segments().all())) {
      SegmentVerifier scrub = core.newSegmentVerifier(ReadThrottle.NONE, listener);
      damaged += requireNonNull(scrub.verify(segment.id())).damagedBlocks();
    }
    return damaged;
  }

  /** Flips a bit of something live; false if there is nothing. */
  public boolean rot() {
    List<LiveBlock> blocks = LiveBlock.all(medium.index);
    if (blocks.isEmpty()) {
      return false;
    }
    blocks.get(medium.random.nextInt(blocks.size())).flip(medium.disk, medium.random);
    return true;
  }

  /** Its process ended. */
  public void die() {
    state = State.DEAD;
    SegmentLog log = core.log();
    List<LogRequest> unfinished = new ArrayList<>(log.accepted());
    unfinished.addAll(log.rejected());
    unfinished.addAll(writes);
    writes.clear();
    List<Read> unread = List.copyOf(reads);
    reads.clear();
    unfinished.forEach(request -> fail(request.completion(), ShardFault.UNAVAILABLE));
    unread.forEach(read -> fail(read.completion(), ShardFault.UNAVAILABLE));
  }

  /** The next so many requests are carried out, but nobody hears of it. */
  public void loseAnswers(int count) {
    answersToLose = count;
  }

  /** The next so many requests find the queue full. */
  public void refuseRequests(int count) {
    requestsToRefuse = count;
  }

  /** The next so many changes never arrive, which their senders hear. */
  public void loseRequests(int count) {
    requestsToLose = count;
  }

  /** After the next intent the next so many changes never arrive, as when a connection breaks. */
  public void loseRequestsAfterIntent(int count) {
    requestsToLoseAfterIntent = count;
  }

  /** What the next so many attempts write of a shard is acknowledged, and is not there. */
  public void loseAttempts(int count) {
    attemptsToLose = count;
  }

  /** The last revision of the shard that is folded by the index; null: it has nothing of it. */
  public @Nullable Long foldedRevision(ShardId shard) {
    if (!shards().contains(shard)) {
      return null;
    }
    try (ShardIndex.Rows rows = medium.index.rows()) {
      return rows.folded(shard).revision();
    } catch (IOException e) {
      throw new AssertionError("an index in memory", e);
    }
  }

  /** Whether a write of its log has failed, so that its next start begins a new incarnation. */
  public boolean hasFailed() {
    return hasFailed;
  }

  /** Whether it takes writes. */
  public boolean isHealthy() {
    return state == State.OPEN;
  }

  public Medium medium() {
    return medium;
  }

  /** Every shard of which anything is on the drive. */
  public Set<ShardId> shards() {
    Set<ShardId> shards = new HashSet<>();
    medium.index.forEachShard(shards::add);
    return shards;
  }

  @Override
  public DriveId drive() {
    return core.drive();
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return switch (state) {
      case OPEN -> null;
      case READ_ONLY -> ShardFault.READ_ONLY;
      case DEAD -> ShardFault.UNAVAILABLE;
    };
  }

  private void offer(LogRequest request) {
    ShardFault refusal = writeRefusal();
    if (refusal == null && isRefused()) {
      refusal = ShardFault.OVERLOADED;
    }
    if (refusal == null && requestsToLose > 0) {
      requestsToLose--;
      refusal = ShardFault.UNAVAILABLE;
    }
    if (refusal != null) {
      fail(request.completion(), refusal);
    } else if (request instanceof LogRequest.Prepare prepare && isToBeLost(prepare)) {
      request.completion().succeeded(core.drive());
    } else {
      writes.add(request);
      if (request instanceof LogRequest.Prepare) {
        requestsToLose += requestsToLoseAfterIntent;
        requestsToLoseAfterIntent = 0;
      }
    }
  }

  /** All pieces of an attempt or none: a drive cannot tell that it lacks the last of them. */
  private boolean isToBeLost(LogRequest.Prepare prepare) {
    AttemptOfShard intent = new AttemptOfShard(prepare.shard(), prepare.attempt());
    if (attemptsToLose > 0 && begun.add(intent)) {
      attemptsToLose--;
      lostIntents.add(intent);
    }
    begun.add(intent);
    return lostIntents.contains(intent);
  }

  private boolean isRefused() {
    return requestsToRefuse > 0 && requestsToRefuse-- > 0;
  }

  private void fail(Completion<?> completion, ShardFault fault) {
    completion.failed(new ShardException(fault, medium.id + ": " + fault));
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    offer(new LogRequest.Write(write, completion));
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    if (!IntentBuilder.matches(intent)) {
      throw new AssertionError("the intent fails its checksums");
    }
    ShardFault refusal = writeRefusal();
    if (refusal != null) {
      fail(completion, refusal);
      return;
    }
    LogRequest ready;
    try {
      ready = intents.makeAtOnce(intent, completion);
    } catch (ShardException e) {
      completion.failed(e);
      return;
    }
    if (ready != null) {
      offer(ready);
    } else {
      read(
          () -> {
            LogRequest request = intents.make(intent, completion);
            return () -> offer(request);
          },
          completion);
    }
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    List<FoldIntent> missing = new ArrayList<>();
    offer(
        new LogRequest.FoldAll(
            folds,
            missing,
            new Completion<>() {
              @Override
              public void succeeded(DriveId drive) {
                if (missing.isEmpty()) {
                  completion.succeeded(drive);
                } else {
                  fail(completion, ShardFault.MISSING);
                }
              }

              @Override
              public void failed(ShardException failure) {
                completion.failed(failure);
              }
            }));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    offer(new LogRequest.DiscardAll(drops, completion));
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    offer(new LogRequest.Delete(blobs, completion));
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    ShardRange range = new ShardRange(shard, view, offset, length);
    read(
        () -> {
          ShardData data = core.reader().read(range);
          return () -> completion.succeeded(data);
        },
        completion);
  }

  private void read(Task task, Completion<?> completion) {
    if (state == State.DEAD) {
      fail(completion, ShardFault.UNAVAILABLE);
    } else if (isRefused()) {
      fail(completion, ShardFault.OVERLOADED);
    } else {
      reads.add(new Read(task, completion));
    }
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return lookUp(() -> core.index().blobsBelow(session, after, max));
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return lookUp(() -> AttemptPage.of(core.index(), session, after, max));
  }

  private interface LookUp<T> {
    T run() throws IOException;
  }

  private <T> T lookUp(LookUp<T> lookUp) throws ShardException {
    if (state == State.DEAD) {
      throw new ShardException(ShardFault.UNAVAILABLE, medium.id + " is gone");
    }
    try {
      return lookUp.run();
    } catch (IOException e) {
      throw new AssertionError("an index in memory", e);
    }
  }
}
