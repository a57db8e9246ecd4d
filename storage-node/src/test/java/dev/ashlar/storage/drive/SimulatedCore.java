package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.change.IntentBuilder;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.MemoryShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedSpace;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** A drive's engine on a simulated drive, driven step by step. */
final class SimulatedCore {
  static final UUID DRIVE = new UUID(5, 6);

  final SlabPool slabs = new SlabPool();
  final MeterRegistry meters = new SimpleMeterRegistry();
  final MemoryShardIndex index = new MemoryShardIndex();
  final SimulatedDrive disk;
  private final SimulatedSpace space;
  private final DriveConfig.Limits limits;
  private final DriveMetrics driveMeters = new DriveMetrics(meters, "simulated");
  private final RecentBlockMemory recent;
  private DriveCore core;

  SimulatedCore(DriveConfig.Limits limits) throws IOException {
    this(limits, new RecentBlockMemory(0));
  }

  SimulatedCore(DriveConfig.Limits limits, RecentBlockMemory recent) throws IOException {
    this(limits, recent, 1);
  }

  SimulatedCore(DriveConfig.Limits limits, RecentBlockMemory recent, long seed) throws IOException {
    this(limits, recent, new SimulatedSpace(Long.MAX_VALUE), seed);
  }

  /** One of the drives that share this space. */
  SimulatedCore(DriveConfig.Limits limits, SimulatedSpace space) throws IOException {
    this(limits, new RecentBlockMemory(0), space, 1);
  }

  private SimulatedCore(
      DriveConfig.Limits limits, RecentBlockMemory recent, SimulatedSpace space, long seed)
      throws IOException {
    this.limits = limits;
    this.recent = recent;
    this.space = space;
    disk = new SimulatedDrive(new Random(seed), space);
    core = open();
  }

  DriveCore core() {
    return core;
  }

  /** As after a crash that lost nothing, with the index as of its last checkpoint or before. */
  DriveCore reopen() throws IOException {
    core.close();
    core = open();
    return core;
  }

  private DriveCore open() throws IOException {
    DriveCore.OpenContext setting =
        new DriveCore.OpenContext(TestDrives.CLUSTER, DRIVE, 1000, space::drives);
    DriveCore.identify(disk, setting);
    return new DriveCore(
        disk, limits, setting, new DriveCore.Parts(index, slabs, recent, driveMeters));
  }

  /** One batch with these bytes, each in a shard of its own, slot 0 of blob (1, n). */
  void commit(int firstBlob, byte[]... payloads) throws IOException {
    for (int i = 0; i < payloads.length; i++) {
      ShardId shard = new ShardId(new BlobId(1, firstBlob + i), 0);
      add(
          new LogRequest.Write(
              AbstractShardStoreContract.shardWrite(shard, 0, payloads[i]), new Answer<>()));
    }
    core.log().commit();
    core.log().clear();
  }

  /** A blob of these bytes, in a batch of its own; false if the drive is full. */
  boolean write(int blob, byte[] payload) throws IOException {
    ShardId shard = new ShardId(new BlobId(1, blob), 0);
    return commitOne(
        new LogRequest.Write(
            AbstractShardStoreContract.shardWrite(shard, 0, payload), new Answer<>()));
  }

  void delete(int blob) throws IOException {
    add(new LogRequest.Delete(List.of(new BlobId(1, blob)), new Answer<>()));
    core.log().commit();
    core.log().clear();
  }

  /** A batch of these tombstones and nothing else. */
  void move(List<? extends MarkRecord> marks) throws IOException {
    add(new LogRequest.Move(0, List.of(), List.copyOf(marks), new Answer<>()));
    core.log().commit();
    core.log().clear();
  }

  /** One batch of one request; what had no room is told of by {@link SegmentLog#rejected}. */
  boolean commitOne(LogRequest request) throws IOException {
    add(request);
    core.log().commit();
    boolean isDone = core.log().rejected().isEmpty();
    core.log().clear();
    return isDone;
  }

  IntentBuilder intents() {
    return core.newIntentMaker(TestDrives::code);
  }

  /** As a drive does it: at once if that can be. */
  static LogRequest.Prepare request(IntentBuilder intents, ShardIntent intent)
      throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    LogRequest.Prepare ready = intents.makeAtOnce(intent, answer);
    return ready != null ? ready : intents.make(intent, answer);
  }

  /** Stores an intent; false if the drive is full. */
  boolean prepare(ShardIntent intent) throws IOException, ShardException {
    LogRequest.Prepare request = request(intents(), intent);
    try {
      return commitOne(request);
    } finally {
      request.completion().succeeded(core.drive());
    }
  }

  /** Returns those that were not there. */
  List<FoldIntent> fold(FoldIntent... folds) throws IOException {
    LogRequest.FoldAll request = new LogRequest.FoldAll(List.of(folds), new Answer<>());
    if (!commitOne(request)) {
      throw new IOException("full");
    }
    return request.missing();
  }

  ExtentMerger coalescer() {
    return core.newCoalescer(
        (shard, bases, patches, payload, crcs) ->
            commitOne(new LogRequest.Merge(shard, bases, patches, payload, crcs, new Answer<>())));
  }

  byte[] read(ShardId shard, ShardView view, long offset, int length) throws ShardException {
    return AbstractShardStoreContract.bytesOf(
        core.reader().read(new ShardRange(shard, view, offset, length)));
  }

  private void add(LogRequest request) throws IOException {
    if (!core.log().add(request)) {
      throw new AssertionError("does not fit");
    }
  }

  Compactor compactor() {
    return compactor(() -> {});
  }

  /** What happens between the look-up of what is needed and its move. */
  interface BeforeMove {
    void run() throws IOException;
  }

  Compactor compactor(BeforeMove beforeMove) {
    return core.newCompactor(
        (request, bytes) -> {
          beforeMove.run();
          add(request.apply(new Answer<>()));
          core.log().commit();
          core.log().clear();
        });
  }

  byte[] read(int blob, long offset, int length) throws ShardException {
    return AbstractShardStoreContract.bytesOf(
        core.reader()
            .read(
                new ShardRange(
                    new ShardId(new BlobId(1, blob), 0), ShardView.ORIGINAL, offset, length)));
  }

  ShardFault readFault(int blob, long offset, int length) {
    byte[] found;
    try {
      found = read(blob, offset, length);
    } catch (ShardException e) {
      return e.fault();
    }
    throw new AssertionError("read " + found.length + " bytes");
  }

  double count(String name) {
    return meters.get(name).functionCounter().count();
  }

  static byte[] noise(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
