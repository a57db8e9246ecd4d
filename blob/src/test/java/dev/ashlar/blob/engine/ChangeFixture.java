package dev.ashlar.blob.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.repair.BlobRepair;
import dev.ashlar.blob.repair.RepairConfig;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.blob.scrub.LossVerifier;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The engine over drives in memory and the real metadata, and a plain array beside it. */
public final class ChangeFixture {
  public static final String BUCKET = "b";
  public static final String KEY = "k";
  private static final RepairConfig REPAIR = new RepairConfig(1, Duration.ofSeconds(5));

  public final Profile profile;
  public final SlabPool pool = new SlabPool();
  public final MemoryBudget memory;
  public final MemoryMetadata metadata;
  public final List<MemoryShardStore> drives = new ArrayList<>();
  public final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  public final ManualClock clock = new ManualClock(1000);
  public final Engine engine;
  public final EngineContext context;
  public final FoldScheduler folds;
  public final AbortedWriteCleaner cleaner;
  public final LossVerifier losses;
  public final ObjectStore store;
  public final BlobRepair repair;
  public final Repairer repairer;
  private final ErasureCodes codes = new ErasureCodes(CodecChoice.AUTO);
  private final Map<UUID, ShardStore> reachable = new LinkedHashMap<>();
  public byte[] expected = new byte[0];

  public ChangeFixture(Profile profile) throws Exception {
    this(
        profile,
        new EngineConfig(
            3 * profile.stripeBytes(), 2, 7L * profile.stripeBytes(), Duration.ofSeconds(20)));
  }

  public ChangeFixture(Profile profile, EngineConfig config) throws Exception {
    this(profile, config, new Hedging(HedgeConfig.OFF, System::nanoTime));
  }

  public ChangeFixture(Profile profile, EngineConfig config, Hedging hedging) throws Exception {
    this(config, hedging, MemoryMetadata.withDrives(profile, profile.shards(), 1));
  }

  /**
   * @param metadata with as many drives as the profile has shards
   */
  public ChangeFixture(EngineConfig config, Hedging hedging, MemoryMetadata metadata)
      throws Exception {
    this(config, hedging, metadata, new MemoryBudget(64 << 20, Duration.ofSeconds(20)));
  }

  /**
   * @param metadata with as many drives as its first profile has shards
   */
  public ChangeFixture(
      EngineConfig config, Hedging hedging, MemoryMetadata metadata, MemoryBudget memory)
      throws Exception {
    this.memory = memory;
    this.profile = metadata.placement().profiles().getFirst().profile();
    this.metadata = metadata;
    for (UUID id : MemoryMetadata.sequentialIds(profile.shards())) {
      MemoryShardStore drive =
          new MemoryShardStore(
              new DriveId(id, 1),
              pool,
              (shape, dataShard, row, delta, parity) ->
                  codes.of(shape).updateParity(dataShard, row, delta, parity));
      drives.add(drive);
      reachable.put(id, drive);
    }
    metadata.submit(TestBlobs.createBucket(BUCKET));
    engine =
        new EngineBuilder(metadata, reachable::get, codes, pool, memory)
            .meters(meters)
            .clock(clock)
            .hedging(hedging)
            .removalsMax(100)
            .build(config);
    context = engine.context();
    cleaner = context.cleaner();
    folds = engine.folds();
    losses = engine.losses();
    store = engine.store();
    repair = engine.newBlobRepair(RepairRates.unbounded());
    repairer = engine.newRepairer(RepairRates.unbounded(), REPAIR);
  }

  /** The drive comes back with another incarnation, with or without what it had. */
  public void replace(int slot, boolean isEmpty) throws Exception {
    MemoryShardStore drive = drives.get(slot);
    if (isEmpty) {
      drive.wipe();
    } else {
      drive.beginNewLife();
    }
    metadata.submit(
        Command.newBuilder()
            .setPutDrives(PutDrives.newBuilder().addDrives(drive.drive().toMessage())));
  }

  /** The drives of two slots of the last blob's group change places, in the map. */
  public void exchangeDrives(int slot, int other) throws Exception {
    PlacementMap map = metadata.placement();
    int pg = lastBlob().getPg();
    metadata.require(
        Command.newBuilder()
            .setMoveSlots(
                MoveSlots.newBuilder()
                    .setBaseEpoch(map.epoch())
                    .addMoves(move(pg, slot, map.drive(pg, other)))
                    .addMoves(move(pg, other, map.drive(pg, slot)))));
  }

  private static SlotMove.Builder move(int pg, int slot, UUID drive) {
    return SlotMove.newBuilder()
        .setPg(pg)
        .setSlot(slot)
        .setDriveHigh(drive.getMostSignificantBits())
        .setDriveLow(drive.getLeastSignificantBits());
  }

  /** The drive that has a shard of the last blob. */
  public MemoryShardStore holder(int slot) throws Exception {
    UUID place = metadata.placement().location(lastBlob(), slot);
    return drives.stream()
        .filter(drive -> drive.drive().id().equals(place))
        .findFirst()
        .orElseThrow();
  }

  /** Until no more can be repaired. */
  public void repairAll() throws Exception {
    while (repairer.round() > 0) {
      cleaner.retry();
    }
  }

  /** Nothing is owed, and drives hold what they must, and nothing else. */
  public void assertWhole(String message) throws Exception {
    assertEquals(List.of(), metadata.debts(), message);
    long bytes = 0;
    for (SliceValue slice : object().object().getSlicesList()) {
      BlobRow row = metadata.blobs(List.of(BlobId.of(slice.getBlob()))).getFirst();
      bytes += BlobRows.layout(row).storedBytes();
    }
    assertEquals(bytes, storedBytes(), message);
    assertContent(message);
    assertEveryLossIsRebuilt(message);
    assertNothingHeld();
  }

  /** As if the drive had been pulled, and put back. */
  public void setReachable(int slot, boolean isReachable) {
    MemoryShardStore drive = drives.get(slot);
    if (isReachable) {
      reachable.put(drive.drive().id(), drive);
    } else {
      reachable.remove(drive.drive().id());
    }
  }

  /** From now on the drive is reached through this. */
  public void reachThrough(int slot, ShardStore store) {
    reachable.put(drives.get(slot).drive().id(), store);
  }

  public void put(byte[] bytes) throws Exception {
    try (ObjectWriter writer = store.newWriter(bytes.length)) {
      writer.write(ByteBuffer.wrap(bytes));
      CommandResult result =
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket(BUCKET)
                              .setKey(KEY)
                              .setSummary(
                                  ObjectSummary.newBuilder().setSize(bytes.length).setEtag("e"))
                              .addAllBlobs(blobs)));
      assertEquals(ResultCode.OK, result.getCode());
    }
    expected = bytes.clone();
  }

  /** So that its blobs are shared from now on. */
  public void copyTo(String key) throws Exception {
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey(KEY)
            .setBucket(BUCKET)
            .setKey(key);
    assertEquals(
        ResultCode.OK, metadata.submit(Command.newBuilder().setCopyObject(copy)).getCode());
  }

  public static ModifyObject.Builder command() {
    return ModifyObject.newBuilder().setBucket(BUCKET).setKey(KEY);
  }

  public ObjectRead object() throws Exception {
    return metadata.object(BUCKET, KEY).orElseThrow();
  }

  /** The row of the object's last blob. */
  public BlobRow lastBlob() throws Exception {
    SliceValue slice = object().object().getSlicesList().getLast();
    return metadata.blobs(List.of(BlobId.of(slice.getBlob()))).getFirst();
  }

  public CommandResult change(long offset, byte[] bytes) throws Exception {
    return change(offset, bytes, bytes.length, bytes.length);
  }

  /** Changes the object, and, if that went well, what is expected of it. */
  public CommandResult change(long offset, byte[] bytes, long expectedLength, int pieceBytes)
      throws Exception {
    try (ObjectChange change = store.newChange(object(), offset, expectedLength)) {
      for (int at = 0; at < bytes.length; at += pieceBytes) {
        change.write(ByteBuffer.wrap(bytes, at, Math.min(pieceBytes, bytes.length - at)));
      }
      CommandResult result = change.commit(command());
      if (result.getCode() == ResultCode.OK) {
        expect(offset, bytes);
        assertEquals(expected.length, result.getSize());
      }
      return result;
    }
  }

  public void expect(long offset, byte[] bytes) {
    expected = Arrays.copyOf(expected, Math.max(expected.length, (int) offset + bytes.length));
    System.arraycopy(bytes, 0, expected, (int) offset, bytes.length);
  }

  public void foldAll() throws Exception {
    folds.sweep();
    List<BlobId> blobs =
        metadata.unfolded(null, 1000).stream().map(row -> BlobId.of(row.getId())).toList();
    folds.foldNow(blobs);
  }

  public byte[] get() throws Exception {
    return get(object(), new ByteRange(0, expected.length));
  }

  public byte[] get(ObjectRead object, ByteRange range) throws Exception {
    ReadBytes read = new ReadBytes();
    store.read(object, range, read);
    return read.bytes();
  }

  public void assertContent(String message) throws Exception {
    assertEquals(expected.length, EncryptedRuns.storedSize(object().object()), message);
    assertArrayEquals(expected, get(), message);
  }

  /** Whichever m drives are away, the rest gives back everything. */
  public void assertEveryLossIsRebuilt(String message) throws Exception {
    for (int away = 0; away < 1 << profile.shards(); away++) {
      if (Integer.bitCount(away) == profile.parityShards()) {
        for (int slot = 0; slot < profile.shards(); slot++) {
          setReachable(slot, (away >> slot & 1) == 0);
        }
        assertContent(message + ", away " + Integer.toBinaryString(away));
      }
    }
    for (int slot = 0; slot < profile.shards(); slot++) {
      setReachable(slot, true);
    }
  }

  public void assertNothingHeld() {
    assertEquals(0, pool.lentBytes(), "slabs in use when nothing is in flight");
    assertEquals(0, memory.reservedBytes());
  }

  public long storedBytes() {
    return drives.stream().mapToLong(MemoryShardStore::storedBytes).sum();
  }

  public long count(String name) {
    return (long) meters.get(name).counters().stream().mapToDouble(each -> each.count()).sum();
  }
}
