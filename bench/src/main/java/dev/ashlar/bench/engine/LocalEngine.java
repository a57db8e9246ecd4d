package dev.ashlar.bench.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.blob.read.RunningReads;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.AddedProfile;
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
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.drive.config.DriveConfig;
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

/**
 * A store as a server runs it, in this process and without S3 before it: the engine, metadata with
 * one peer, and drives, all with files of their own.
 */
public final class LocalEngine implements AutoCloseable {
  private static final String BUCKET = "bench";

  private final CountDownLatch open = OpenEngines.opened();
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Map<UUID, ShardStore> drives = new HashMap<>();
  private final List<Profile> profiles;
  private final MetadataClient metadata;
  private final RunningReads store;

  /** Direct memory, which several engines may share if only one of them is busy at a time. */
  public record Memory(SlabPool slabs, MemoryBudget requests) {
    /** As much as a server uses with {@code -XX:MaxDirectMemorySize=512m}. */
    public static Memory ofAServer() {
      return new Memory(
          new SlabPool(320L << 20), new MemoryBudget(192L << 20, Duration.ofSeconds(5)));
    }
  }

  /**
   * Opens a store with one drive per shard of the widest blobs.
   *
   * @param root folder of the store; a fresh one if it does not exist
   * @param profiles at most as many as a store may have
   */
  public static LocalEngine open(Path root, List<Profile> profiles, Memory memory)
      throws IOException, MetadataUnavailableException {
    return new LocalEngine(root, profiles, memory);
  }

  private LocalEngine(Path root, List<Profile> profiles, Memory memory)
      throws IOException, MetadataUnavailableException {
    this.profiles = profiles;
    UUID cluster = UUID.randomUUID();
    try {
      ErasureCodes codes = opening(new ErasureCodes(CodecChoice.AUTO));
      DriveResources resources =
          opening(
              new DriveResources(
                  memory.slabs(),
                  meters,
                  Clock.systemUTC(),
                  codes::of,
                  DriveResources.Budget.DEFAULT));
      metadata = openMetadata(root, cluster, resources);
      openDrives(root, cluster, resources);
      Engine engine =
          opening(
              new EngineBuilder(metadata, drives::get, codes, memory.slabs(), memory.requests())
                  .meters(meters)
                  .build(EngineConfig.DEFAULT));
      engine.startDeadlines();
      store = engine.store();
    } catch (IOException | MetadataUnavailableException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private MetadataClient openMetadata(Path root, UUID cluster, DriveResources resources)
      throws IOException, MetadataUnavailableException {
    ExecutorService reads = opening(Executors.newFixedThreadPool(4));
    RocksResources rocks =
        new RocksResources(
            resources.env(), resources.blockCache(), resources.writeBufferManager(), reads);
    List<Path> folders = List.of(root.resolve("metadata"));
    MetadataConfig config = new MetadataConfig(folders, cluster, rocks, meters);
    return opening(MetadataServer.open(config)).client();
  }

  private void openDrives(Path root, UUID cluster, DriveResources resources)
      throws IOException, MetadataUnavailableException {
    List<DriveRow> rows = new ArrayList<>();
    int count = profiles.stream().mapToInt(Profile::shards).max().orElseThrow();
    for (int number = 0; number < count; number++) {
      DriveConfig config = DriveConfig.of(root.resolve("d" + number), cluster);
      DriveStore drive = opening(DriveStore.open(config, resources));
      UUID id = drive.drive().id();
      drives.put(id, drive);
      rows.add(
          DriveRow.newBuilder()
              .setDriveHigh(id.getMostSignificantBits())
              .setDriveLow(id.getLeastSignificantBits())
              .setIncarnation(drive.drive().incarnation())
              .setFailureDomain(id.toString())
              .build());
    }
    install(rows);
  }

  private void install(List<DriveRow> rows) throws MetadataUnavailableException {
    PutDrives.Builder command =
        PutDrives.newBuilder()
            .addAllDrives(rows)
            .setPgMap(Placement.first(rows, profiles.getFirst(), Placement.PG_COUNT_DEFAULT));
    submit(Command.newBuilder().setPutDrives(command));
    for (int number = 1; number < profiles.size(); number++) {
      AddedProfile added =
          Placement.added(
              metadata.registry(), metadata.placement(), "P" + number, profiles.get(number));
      submit(
          Command.newBuilder()
              .setAddProfile(
                  AddProfile.newBuilder()
                      .setBaseEpoch(metadata.placement().epoch())
                      .setProfile(added)));
    }
    submit(
        Command.newBuilder()
            .setCreateBucket(CreateBucket.newBuilder().setName(BUCKET).setOwner("bench")));
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

  /** Puts an object of these bytes with one of the store's profiles. */
  public void put(Profile profile, String key, ByteBuffer bytes)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    OpenEngines.checkGoingOn();
    int length = bytes.remaining();
    try (ObjectWriter writer = store.newWriter(profiles.indexOf(profile), length)) {
      writer.write(bytes.duplicate());
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

  /** Overwrites a range or appends. False if another writer changed the same place meanwhile. */
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

  /** Reads a range; starts over when the object is changed in the middle of it. */
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
        System.err.println("A resource did not close cleanly: " + e);
      }
    }
    OpenEngines.closed(open);
  }
}
