package dev.ashlar.bench.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.Engine;
import dev.ashlar.blob.EngineConfig;
import dev.ashlar.blob.EngineMetrics;
import dev.ashlar.blob.ErasureCodes;
import dev.ashlar.blob.ErasureObjectStore;
import dev.ashlar.blob.Folder;
import dev.ashlar.blob.HedgeConfig;
import dev.ashlar.blob.Hedging;
import dev.ashlar.blob.Leftovers;
import dev.ashlar.blob.MemoryBudget;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.RunningReads;
import dev.ashlar.blob.Suspects;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.metadata.server.MetadataConfig;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.DriveConfig;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.io.IoMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A store as a server runs it, in this process and without S3 before it: the engine, metadata with
 * one peer, and drives, all with files of their own.
 */
public final class LocalEngine implements AutoCloseable {
  private static final String BUCKET = "bench";
  private static final GarbageConfig SOON =
      new GarbageConfig(
          Duration.ofSeconds(1),
          Duration.ofMinutes(1),
          Duration.ofMillis(100),
          2000,
          Duration.ofSeconds(30),
          Duration.ofSeconds(1));
  static final Duration DRAIN_MAX = Duration.ofSeconds(15);
  private static final int LEFTOVERS_MAX = 100_000;

  private final CountDownLatch open = OpenEngines.opened();
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Map<UUID, ShardStore> drives = new HashMap<>();
  private final Profile profile;
  private final MetadataClient metadata;
  private final Folder folder;
  private final Leftovers leftovers;
  private final RunningReads store;

  /**
   * Direct memory, which engines may share that are not busy at the same time.
   *
   * @param recentBytes what all drives of one have for blocks that changes have written lately
   */
  public record Memory(SlabPool slabs, MemoryBudget requests, long recentBytes) {
    static final long RECENT_BYTES = DriveResources.Budget.DEFAULT.recentBytes();

    /** With {@code -XX:MaxDirectMemorySize=512m}, as much as a server takes. */
    public static Memory ofAServer() {
      return new Memory(
          new SlabPool(320L << 20),
          new MemoryBudget(192L << 20, Duration.ofSeconds(5)),
          RECENT_BYTES);
    }

    Memory withRecentBytes(long bytes) {
      return new Memory(slabs, requests, bytes);
    }
  }

  /**
   * A store on a file system.
   *
   * @param root the folder that has all of it, which the first open makes
   * @param drives at least one per shard of a blob
   * @param rate of each drive; null: what it can do
   * @param network between the engine and each drive, as in a cluster, and the caller's; null:
   *     there is none
   */
  public record Place(
      Path root,
      UUID cluster,
      Profile profile,
      int drives,
      IoMode io,
      @Nullable DriveRate rate,
      @Nullable Network network) {
    /** With a drive per shard. */
    public static Place in(Path root, Profile profile) {
      return new Place(root, UUID.randomUUID(), profile, profile.shards(), IoMode.AUTO, null, null);
    }

    public Place with(
        int driveCount,
        IoMode mode,
        @Nullable DriveRate driveRate,
        @Nullable Network driveNetwork) {
      return new Place(root, cluster, profile, driveCount, mode, driveRate, driveNetwork);
    }

    public LocalEngine open(Memory memory)
        throws IOException, MetadataUnavailableException, InterruptedException {
      return new LocalEngine(this, memory);
    }
  }

  private LocalEngine(Place place, Memory memory)
      throws IOException, MetadataUnavailableException, InterruptedException {
    this.profile = place.profile();
    try {
      ErasureCodes codes = opening(new ErasureCodes(CodecChoice.AUTO));
      DriveResources resources =
          opening(
              new DriveResources(
                  memory.slabs(),
                  meters,
                  Clock.systemUTC(),
                  codes::of,
                  DriveResources.Budget.DEFAULT.withRecentBytes(memory.recentBytes())));
      metadata = openMetadata(place, resources);
      openDrives(place, resources, memory.slabs());
      EngineConfig config = EngineConfig.of(profile);
      EngineMetrics metrics = new EngineMetrics(meters);
      folder =
          opening(
              new Folder(
                  metadata, drives::get, metrics, Clock.systemUTC(), config.driveDeadline()));
      leftovers = opening(new Leftovers(drives::get, LEFTOVERS_MAX));
      Hedging hedging = opening(new Hedging(HedgeConfig.OFF, System::nanoTime));
      hedging.start();
      Engine engine =
          new Engine(
              config,
              metadata,
              drives::get,
              codes,
              memory.slabs(),
              metrics,
              memory.requests(),
              hedging,
              leftovers,
              folder,
              new Suspects());
      store = new RunningReads(new ErasureObjectStore(engine), Clock.systemUTC());
    } catch (IOException
        | MetadataUnavailableException
        | InterruptedException
        | RuntimeException e) {
      close();
      throw e;
    }
  }

  private MetadataClient openMetadata(Place place, DriveResources resources)
      throws IOException, MetadataUnavailableException {
    ExecutorService reads = opening(Executors.newFixedThreadPool(4));
    RocksResources rocks =
        new RocksResources(
            resources.env(), resources.blockCache(), resources.writeBufferManager(), reads);
    List<Path> folders = List.of(place.root().resolve("metadata"));
    MetadataConfig config = new MetadataConfig(folders, place.cluster(), rocks, meters);
    return opening(MetadataServer.open(config)).client();
  }

  private void openDrives(Place place, DriveResources resources, SlabPool slabs)
      throws IOException, MetadataUnavailableException, InterruptedException {
    List<DriveRow> rows = new ArrayList<>();
    List<DriveStore> local = new ArrayList<>();
    DriveRate rate = place.rate();
    for (int number = 0; number < place.drives(); number++) {
      DriveConfig config =
          DriveConfig.of(place.root().resolve("d" + number), place.cluster()).with(place.io());
      DriveStore drive =
          opening(
              DriveStore.open(
                  config, resources, files -> rate == null ? files : new PacedFiles(files, rate)));
      UUID id = drive.drive().id();
      local.add(drive);
      rows.add(
          DriveRow.newBuilder()
              .setDriveHigh(id.getMostSignificantBits())
              .setDriveLow(id.getLeastSignificantBits())
              .setIncarnation(drive.drive().incarnation())
              .setFailureDomain(id.toString())
              .build());
    }
    Network network = place.network();
    LoopbackNodes nodes =
        network == null ? null : opening(new LoopbackNodes(place.cluster(), slabs, network));
    for (DriveStore drive : local) {
      drives.put(drive.drive().id(), nodes == null ? drive : nodes.serve(drive));
    }
    if (metadata.drives().isEmpty()) {
      install(rows);
    }
  }

  private void install(List<DriveRow> rows) throws MetadataUnavailableException {
    PutDrives.Builder command =
        PutDrives.newBuilder()
            .addAllDrives(rows)
            .setPgMap(Placement.first(rows, profile, Placement.PG_COUNT_DEFAULT));
    submit(Command.newBuilder().setPutDrives(command));
    submit(
        Command.newBuilder()
            .setCreateBucket(CreateBucket.newBuilder().setName(BUCKET).setOwner("bench")));
  }

  /** From now on changes are folded and garbage removed in the background, as in a server. */
  void startHousekeeping() {
    folder.start(store::oldestMs);
    leftovers.start();
    GarbageCollector garbage =
        opening(
            new GarbageCollector(
                metadata, drives::get, store::oldestMs, Clock.systemUTC(), SOON, meters));
    garbage.start();
  }

  /** Waits until nothing is left to be folded or removed; false if that takes too long. */
  boolean drain() throws MetadataUnavailableException, InterruptedException {
    long deadline = System.nanoTime() + DRAIN_MAX.toNanos();
    while (hasWaitingWork()) {
      if (System.nanoTime() >= deadline) {
        return false;
      }
      OpenEngines.checkGoingOn();
      Thread.sleep(100);
    }
    return true;
  }

  private boolean hasWaitingWork() throws MetadataUnavailableException {
    return folder.waiting() > 0 || !metadata.garbage(Long.MAX_VALUE, null, 1).isEmpty();
  }

  public Profile profile() {
    return profile;
  }

  DriveCounts counts() {
    return DriveCounts.of(meters);
  }

  /** Bytes that have been written to all drives, with what fills up the last block of a batch. */
  public long writtenBytes() {
    return meters.get("ashlar.drive.write.bytes").functionCounters().stream()
        .mapToLong(counter -> Math.round(counter.count()))
        .sum();
  }

  /** Bytes on all drives that are needed, headers and checksums included. */
  public long liveBytes() {
    return meters.get("ashlar.drive.live.bytes").gauges().stream()
        .mapToLong(gauge -> Math.round(gauge.value()))
        .sum();
  }

  /** Puts an object of so many times these bytes. */
  public void put(String key, ByteBuffer bytes, int times)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    OpenEngines.checkGoingOn();
    long length = (long) times * bytes.remaining();
    try (ObjectWriter writer = store.newWriter(length)) {
      for (int i = 0; i < times; i++) {
        writer.write(bytes.duplicate());
      }
      ObjectSummary.Builder summary =
          ObjectSummary.newBuilder()
              .setSize(length)
              .setEtag(HexFormat.of().formatHex(writer.md5()));
      CommandResult result =
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket(BUCKET)
                              .setKey(key)
                              .setSummary(summary)
                              .addAllBlobs(blobs)));
      check(result);
    }
  }

  /** Writes over a range, or behind the end. False if others changed the same place meanwhile. */
  boolean change(String key, long offset, ByteBuffer bytes)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    OpenEngines.checkGoingOn();
    try (ObjectChange change = store.newChange(object(key), offset, bytes.remaining())) {
      change.write(bytes.duplicate());
      CommandResult result = change.commit(ModifyObject.newBuilder().setBucket(BUCKET).setKey(key));
      if (result.getCode() == ResultCode.CONDITIONAL_CONFLICT) {
        return false;
      }
      check(result);
      return true;
    } catch (DataUnavailableException e) {
      if (e.reason() == Reason.CONFLICT) {
        return false;
      }
      throw e;
    }
  }

  /** As often as the object was changed before its bytes could be read, from the beginning. */
  void read(String key, long offset, long length)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    while (!tryRead(object(key), new ByteRange(offset, length))) {
      Thread.onSpinWait();
    }
  }

  private boolean tryRead(ObjectRead object, ByteRange range)
      throws DataUnavailableException, InterruptedException {
    OpenEngines.checkGoingOn();
    try {
      store.read(object, range, ShardData::release);
      return true;
    } catch (DataUnavailableException e) {
      if (e.reason() == Reason.GONE) {
        return false;
      }
      throw e;
    }
  }

  private ObjectRead object(String key) throws MetadataUnavailableException {
    return metadata.object(BUCKET, key).orElseThrow();
  }

  private void submit(Command.Builder command) throws MetadataUnavailableException {
    check(metadata.submit(command));
  }

  private static void check(CommandResult result) {
    if (result.getCode() != ResultCode.OK) {
      throw new IllegalStateException("metadata answers " + result.getCode());
    }
  }

  private <T extends AutoCloseable> T opening(T resource) {
    opened.push(resource);
    return resource;
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        System.err.println("does not close cleanly: " + e);
      }
    }
    OpenEngines.closed(open);
  }
}
