package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.SimulatedIndex;
import dev.ashlar.storage.drive.log.LogBatch;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogWriteException;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.RawFiles;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.Calls;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/** One run of a drive's engine, all of it drawn from a seed, against {@link DriveModel}. */
final class DriveSimulation {
  private static final DriveCore.OpenContext SETTING =
      new DriveCore.OpenContext(TestDrives.CLUSTER, new UUID(5, 6), 1000);
  private static final int LIVES_MAX = 5;
  private static final int STEPS_MAX = 40;
  private static final int BLOCK = SegmentFormat.BLOCK;

  /** So few that they make room for each other all the time. */
  static final RecentBlockMemory FEW_RECENT =
      new RecentBlockMemory(0, 8, ByteBuffer::allocateDirect);

  static final DriveMetrics METERS = new DriveMetrics(new SimpleMeterRegistry(), "simulated");

  /** What is done to the drive beside cutting its power. */
  enum Fault {
    NONE,
    WRITE_ERROR,
    INDEX_LOSS,
    DAMAGE,
    /** Files cannot be made, renamed or deleted, or the directory synced, for a while. */
    NAME_ERROR,
    /** Writes and syncs fail for a while, over several starts, and then do not any more. */
    LASTING_ERROR,
    /** A write is acknowledged that went elsewhere, or nowhere. */
    STRAY_WRITE
  }

  private static final int ERRORS_MAX = 20;

  /** Direct memory for the payloads of one round. */
  private static final ByteBuffer PAYLOADS =
      ByteBuffer.allocateDirect((1 << 20) + BLOCK).alignedSlice(BLOCK);

  private static final byte[] NOISE = noise();

  private final Random random;
  private final Fault fault;
  private final SlabPool slabs;
  private final SimulatedDrive disk;
  private final RawFiles files;
  private final SimulatedIndex index;
  private final DriveModel model;
  private final SimulatedChanges changes;
  private long nextBlob;
  private int writes;
  private int refusedDeletes;
  private int payloadsUsed;
  private long incarnation;
  private boolean expectNewLife;

  /** What had failed when the present life began. */
  private long errorsBefore;

  DriveSimulation(
      long seed, Fault fault, BuggyFiles.Bug bug, SlabPool slabs, SimulatedIndex index) {
    this.index = index;
    random = new Random(seed);
    this.fault = fault;
    this.slabs = slabs;
    model = new DriveModel(!failsWrites());
    changes = new SimulatedChanges(random);
    disk = new SimulatedDrive(random, (6L + random.nextInt(30)) * TestDrives.TINY.segmentBytes());
    files = bug.in(disk);
  }

  private boolean failsWrites() {
    return fault == Fault.WRITE_ERROR || fault == Fault.LASTING_ERROR;
  }

  private static byte[] noise() {
    byte[] noise = new byte[1 << 20];
    new Random(1).nextBytes(noise);
    return noise;
  }

  void run() throws IOException {
    int lives = 1 + random.nextInt(LIVES_MAX);
    for (int life = 0; life < lives; life++) {
      if (random.nextInt(10) > 0) {
        disk.crashAtCall(1 + random.nextInt(60));
      }
      try {
        planErrors();
        openAndLive();
      } catch (PowerLoss e) {
        assertEquals(0, slabs.lentBytes(), "slabs leak in a crash");
      }
      changes.powerLost();
      disk.reboot();
      index.crash(random);
      if (fault == Fault.INDEX_LOSS && random.nextInt(2) == 0) {
        index.lose();
      }
    }
    live(open());
    if (fault == Fault.DAMAGE) {
      damage();
    }
    if (fault == Fault.STRAY_WRITE) {
      stray();
    }
  }

  /** Those that may meet the drive as it starts. */
  private void planErrors() {
    errorsBefore = disk.errorCount();
    if (random.nextInt(3) == 0) {
      return;
    }
    if (fault == Fault.NAME_ERROR) {
      disk.fail(Calls.NAMES, 1 + random.nextInt(12), 1 + random.nextInt(ERRORS_MAX));
    } else if (fault == Fault.LASTING_ERROR) {
      disk.fail(Calls.DATA, 1 + random.nextInt(60), 1 + random.nextInt(ERRORS_MAX));
    }
  }

  private boolean hasFailed() {
    return disk.errorCount() > errorsBefore;
  }

  private void openAndLive() throws IOException {
    DriveCore core;
    try {
      core = open();
    } catch (IOException e) {
      if (!hasFailed()) {
        throw e;
      }
      return; // it is tried again at the next start
    }
    live(core);
  }

  private DriveCore open() throws IOException {
    DriveCore.identify(files, SETTING);
    return new DriveCore(
        files,
        TestDrives.TINY,
        SETTING,
        new DriveCore.Parts(index.index(), slabs, FEW_RECENT, METERS));
  }

  /**
   * Whatever was acknowledged then may be lost, but what is read is right. The index is not lost
   * with it: where a batch lies on another one, nothing but the index tells that there was one.
   */
  private void stray() throws IOException {
    DriveCore core = open();
    Compactor compactor = newCompactor(core);
    disk.strayAtWrite(1 + random.nextInt(6));
    for (int i = random.nextInt(STEPS_MAX); i > 0; i--) {
      switch (random.nextInt(6)) {
        case 0 -> index.index().checkpoint();
        case 1 -> compact(compactor);
        case 2 -> checkBytes(core);
        default -> commitSome(core, false);
      }
    }
    scrub(core);
    checkBytes(core);
    core.close();
    disk.reboot();
    index.crash(random);
    DriveCore later = open();
    checkBytes(later);
    scrub(later);
    checkBytes(later);
    later.close();
  }

  private void checkBytes(DriveCore core) {
    model.checkBytes(core.reader());
    changes.checkDamaged(core.reader(), Set.of(), false);
  }

  private static void scrub(DriveCore core) throws IOException {
    for (Segment segment : List.copyOf(core.segments().all())) {
      core.newSegmentVerifier(ReadThrottle.NONE, (shard, range, found) -> {}).verify(segment.id());
    }
  }

  /** Some batches that follow each other lose their directories. */
  private void damage() throws IOException {
    DriveCore core = open();
    core.log().confirm();
    List<Batch> batches = batches(core);
    core.close();
    if (batches.size() < 2) {
      return;
    }
    int first = random.nextInt(batches.size() - 1);
    int count = 1 + random.nextInt(Math.min(3, batches.size() - 1 - first));
    Set<BlobId> held = new HashSet<>();
    for (Batch batch : batches.subList(first, first + count)) {
      BatchHeader header = batch.header();
      int from = random.nextInt(header.directoryBytes());
      disk.flipBit(Segment.fileName(header.segment()), header.offset() + from, random.nextInt(8));
      held.addAll(batch.blobs());
    }
    if (random.nextBoolean()) {
      index.lose();
    } else {
      index.crash(random);
    }
    DriveCore damaged = open();
    changes.checkDamaged(damaged.reader(), held, isNarrow(batches, first, count));
    damaged.close();
  }

  /** Whether all that surrounds these batches is there, and the one behind them tells of them. */
  private static boolean isNarrow(List<Batch> batches, int first, int count) {
    int from = Math.max(0, first - 1);
    long begin = batches.get(from).header().sequence();
    Batch behind = batches.get(first + count);
    return (first > 0 || begin == 1)
        && behind.header().sequence() - begin == first + count - from
        && behind.remembered() >= count;
  }

  private record Batch(BatchHeader header, Set<BlobId> blobs, int remembered) {}

  private List<Batch> batches(DriveCore core) throws IOException {
    List<Batch> found = new ArrayList<>();
    for (Segment segment : core.segments().all()) {
      try (BatchScanner scanner =
          new BatchScanner(core.drive().id(), TestDrives.TINY.segmentBytes(), slabs)) {
        BatchHeader next = scanner.directoryAt(segment, 0);
        while (next != null) {
          int remembered = scanner.history(next).batches();
          found.add(new Batch(next, blobsOf(scanner, next), remembered));
          next = scanner.directoryAt(segment, next.offset() + next.bytes());
        }
      }
    }
    return found;
  }

  private static Set<BlobId> blobsOf(BatchScanner scanner, BatchHeader header) throws IOException {
    Set<BlobId> blobs = new HashSet<>();
    scanner.forEachRecord(
        header,
        new BatchScanner.RecordVisitor() {
          @Override
          public void piece(ShardPiece piece) {
            blobs.add(piece.shard().blob());
          }

          @Override
          public void mark(MarkRecord mark) {
            blobs.add(mark.blob());
          }
        });
    return blobs;
  }

  private static Compactor newCompactor(DriveCore core) {
    return core.newCompactor((request, bytes) -> alone(core, request.apply(new Ignored())));
  }

  private void live(DriveCore core) throws IOException {
    checkIncarnation(core.drive());
    check(core);
    Compactor compactor = newCompactor(core);
    ExtentMerger coalescer =
        core.newCoalescer(
            (shard, bases, patches, payload, crcs) ->
                alone(
                    core,
                    new LogRequest.Merge(shard, bases, patches, payload, crcs, new Ignored())));
    checkMarks(core);
    try {
      if (fault == Fault.WRITE_ERROR && random.nextBoolean()) {
        disk.failAtCall(1 + random.nextInt(60));
      }
      int steps = random.nextInt(STEPS_MAX);
      for (int i = 0; i < steps; i++) {
        step(core, compactor, coalescer);
      }
      check(core);
      checkMarks(core);
    } catch (SimulatedFailure e) {
      if (e.isInDoubt()) {
        endIncarnation(core);
      }
      check(core);
    }
    core.close();
  }

  private void endIncarnation(DriveCore core) throws IOException {
    try {
      core.endIncarnation();
      expectNewLife = true;
    } catch (IOException e) {
      if (fault != Fault.LASTING_ERROR) {
        throw e;
      }
    }
  }

  private void check(DriveCore core) {
    model.check(core.reader(), DriveModel.none());
    changes.check(core.reader());
  }

  /** Else a segment would wait for ever for marks that nobody can read. */
  private void checkMarks(DriveCore core) throws IOException {
    if (failsWrites()) {
      return; // it loses what it has said to be durable
    }
    for (Segment segment : core.segments().all()) {
      int found = 0;
      try (BatchScanner scanner =
          new BatchScanner(core.drive().id(), TestDrives.TINY.segmentBytes(), slabs)) {
        BatchHeader next = scanner.directoryAt(segment, 0);
        while (next != null) {
          found += marksOf(scanner, next);
          next = scanner.directoryAt(segment, next.offset() + next.bytes());
        }
      }
      assertEquals(segment.use().marks(), found, segment + " has other marks than are counted");
    }
  }

  private static int marksOf(BatchScanner scanner, BatchHeader header) throws IOException {
    List<MarkRecord> marks = new ArrayList<>();
    scanner.forEachRecord(
        header,
        new BatchScanner.RecordVisitor() {
          @Override
          public void piece(ShardPiece piece) {}

          @Override
          public void mark(MarkRecord mark) {
            marks.add(mark);
          }
        });
    return marks.size();
  }

  /** The drive failed for the engine; it is closed and opened again. */
  private static final class SimulatedFailure extends IOException {
    private static final long serialVersionUID = 1;

    SimulatedFailure(IOException cause) {
      super(cause);
    }

    /** Whether it is not known what of the log is on the drive. */
    boolean isInDoubt() {
      return getCause() instanceof LogWriteException;
    }
  }

  private void checkIncarnation(DriveId drive) {
    if (incarnation == 0) {
      incarnation = drive.incarnation();
    }
    if (expectNewLife) {
      assertTrue(drive.incarnation() > incarnation, "no new life after a failed write");
      incarnation = drive.incarnation();
      expectNewLife = false;
    } else if (failsWrites()) {
      incarnation = drive.incarnation();
    } else {
      assertEquals(incarnation, drive.incarnation(), "a torn tail is no damage");
    }
  }

  private void step(DriveCore core, Compactor compactor, ExtentMerger coalescer)
      throws IOException {
    switch (random.nextInt(14)) {
      case 0 -> index.index().checkpoint();
      case 1, 2, 3 -> {
        core.segments().prepare(core.log().activeRoomBytes());
        compact(compactor);
      }
      case 4 -> check(core);
      case 5 -> changes.coalesce(core, coalescer);
      case 6 -> confirm(core);
      default -> {
        commitSome(core, true);
        makeRoomForDeletes(core, compactor);
      }
    }
  }

  private static void confirm(DriveCore core) throws IOException {
    try {
      core.log().confirm();
    } catch (IOException e) {
      throw new SimulatedFailure(e);
    }
  }

  /** With segments of about one batch, the reserve can be too cut up for a move. */
  private static void compact(Compactor compactor) throws IOException {
    try {
      if (compactor.emptyOne()) {
        compactor.free();
      }
    } catch (ShardException e) {
      assertEquals(ShardFault.FULL, e.fault());
    }
  }

  /** Where a delete was refused, compaction has to make room for it. */
  private void makeRoomForDeletes(DriveCore core, Compactor compactor) throws IOException {
    BlobId blob = model.anyLiveBlob(random);
    if (refusedDeletes == 0 || blob == null) {
      return;
    }
    for (int i = 0; i < 20; i++) {
      compact(compactor);
    }
    refusedDeletes = 0;
    PlannedDelete delete = new PlannedDelete(blob);
    delete.announce();
    commit(core, List.of(delete));
    assertTrue(refusedDeletes == 0 || hasFailed(), "the drive is stuck");
    refusedDeletes = 0;
  }

  private void commitSome(DriveCore core, boolean withChanges) throws IOException {
    List<Planned> planned = new ArrayList<>();
    payloadsUsed = 0;
    int count = 1 + random.nextInt(6);
    for (int i = 0; i < count; i++) {
      BlobId victim = random.nextInt(3) == 0 ? model.anyLiveBlob(random) : null;
      Planned next = withChanges && random.nextBoolean() ? changes.plan(core) : null;
      if (next == null) {
        next = victim != null ? new PlannedDelete(victim) : planWrite();
      }
      next.announce();
      planned.add(next);
    }
    try {
      commit(core, planned);
    } finally {
      planned.forEach(Planned::forgotten);
      changes.endRound();
    }
  }

  private void commit(DriveCore core, List<? extends Planned> planned) throws IOException {
    SegmentLog log = core.log();
    int from = 0;
    while (from < planned.size()) {
      int to = from;
      try {
        while (to < planned.size() && log.add(planned.get(to).request())) {
          to++;
        }
        log.commit();
      } catch (IOException e) {
        throw new SimulatedFailure(e);
      }
      for (int i = from; i < to; i++) {
        planned.get(i).ended(log.accepted().contains(planned.get(i).request()));
      }
      log.clear();
      from = to;
    }
  }

  private static void alone(DriveCore core, LogRequest request) throws IOException, ShardException {
    try {
      if (!core.log().add(request)) {
        throw new AssertionError("needs an empty batch: " + request);
      }
      core.log().commit();
      boolean isRefused = !core.log().rejected().isEmpty();
      core.log().clear();
      if (isRefused) {
        throw new ShardException(ShardFault.FULL, "no room for it");
      }
    } catch (IOException e) {
      throw new SimulatedFailure(e);
    }
  }

  private Planned planWrite() {
    BlobId known = random.nextInt(4) == 0 ? model.anyLiveBlob(random) : null;
    BlobId blob = known != null ? known : new BlobId(1, ++nextBlob);
    ShardId shard = new ShardId(blob, random.nextInt(3));
    int length =
        switch (random.nextInt(4)) {
          case 0 -> 1 + random.nextInt(200);
          case 1 -> 1 + random.nextInt(BLOCK * 2);
          case 2 -> LogBatch.UNCOPIED_BYTES_MIN + random.nextInt(2 * BLOCK);
          default -> 1 + random.nextInt(BLOCK * 8);
        };
    int from = random.nextInt(NOISE.length - length);
    byte[] bytes = Arrays.copyOfRange(NOISE, from, from + length);
    // A place of its own for each write: blocks are never written twice.
    writes++;
    return new PlannedWrite(shard, known == null ? 0 : 100 * writes, bytes);
  }

  private final class PlannedWrite implements Planned {
    private final ShardId shard;
    private final int firstBlock;
    private final byte[] bytes;
    private final LogRequest request;

    PlannedWrite(ShardId shard, int firstBlock, byte[] bytes) {
      this.shard = shard;
      this.firstBlock = firstBlock;
      this.bytes = bytes;
      ByteBuffer aligned = PAYLOADS.slice(payloadsUsed, bytes.length);
      payloadsUsed += SegmentFormat.roundUp(bytes.length);
      aligned.put(bytes).flip();
      request =
          new LogRequest.Write(
              new ShardWrite(
                  shard,
                  (long) firstBlock * BLOCK,
                  aligned,
                  AbstractShardStoreContract.crcs(bytes)),
              new Ignored());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      model.wrote(shard, firstBlock, bytes, DriveModel.Certainty.UNCERTAIN);
    }

    @Override
    public void ended(boolean isAcknowledged) {
      if (isAcknowledged) {
        model.wrote(shard, firstBlock, bytes, DriveModel.Certainty.ACKNOWLEDGED);
      }
    }
  }

  private final class PlannedDelete implements Planned {
    private final BlobId blob;
    private final LogRequest request;

    PlannedDelete(BlobId blob) {
      this.blob = blob;
      request = new LogRequest.Delete(List.of(blob), new Ignored());
    }

    @Override
    public LogRequest request() {
      return request;
    }

    @Override
    public void announce() {
      model.maybeDeleted(blob);
    }

    @Override
    public void ended(boolean isAcknowledged) {
      if (isAcknowledged) {
        model.deleted(blob);
      } else {
        model.notDeleted(blob);
        refusedDeletes++;
      }
    }
  }

  private static final class Ignored implements Completion<DriveId> {
    @Override
    public void succeeded(DriveId result) {}

    @Override
    public void failed(ShardException failure) {}
  }
}
