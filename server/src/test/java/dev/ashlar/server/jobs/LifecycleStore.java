package dev.ashlar.server.jobs;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.lifecycle.LifecycleCalendar;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.lifecycle.LifecycleReader;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.LifecycleScanRow;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A bucket, {@code b}, and the job, over the real engine and metadata on drives in memory. There
 * are storage classes A and B beside STANDARD.
 */
final class LifecycleStore implements AutoCloseable {
  static final long DAY = Duration.ofDays(1).toMillis();
  static final long BEGIN = Instant.parse("2024-01-15T10:30:00Z").toEpochMilli();
  private static final int ROUNDS_MAX = 10_000;
  private static final Profile PROFILE = new Profile(2, 2, 4096);

  final ManualClock clock = new ManualClock(BEGIN);
  final MemoryMetadata metadata = new MemoryMetadata(clock);
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  final Map<UUID, ShardStore> drives = new LinkedHashMap<>();
  private final ErasureCodes codes = new ErasureCodes(CodecChoice.JAVA);
  private final Engine engine;

  LifecycleStore() {
    List<UUID> ids = MemoryMetadata.sequentialIds(4);
    metadata.require(Command.newBuilder().setPutDrives(MemoryMetadata.drives(PROFILE, ids, 2)));
    SlabPool slabs = new SlabPool();
    for (UUID id : ids) {
      drives.put(id, new MemoryShardStore(new DriveId(id, 1), slabs));
    }
    engine =
        new EngineBuilder(
                metadata,
                drives::get,
                codes,
                slabs,
                new MemoryBudget(64 << 20, Duration.ofSeconds(20)))
            .build(EngineConfig.DEFAULT);
    metadata.require(TestProfiles.add(metadata, "A", new Profile(1, 2, 4096), 2));
    metadata.require(TestProfiles.add(metadata, "B", new Profile(2, 1, 4096), 2));
    metadata.require(TestBlobs.createBucket("b"));
  }

  LifecycleJob.Parts parts(MetadataClient seen, int page) {
    return new LifecycleJob.Parts(
        seen,
        new PatientMover(engine.newVersionMover()),
        clock::millis,
        LifecycleCalendar.REAL,
        new ByteRateLimiter(0),
        new ByteRateLimiter(0),
        LifecycleMeters.of(meters),
        new RateLimitedLog(LoggerFactory.getLogger(LifecycleStore.class), Level.DEBUG),
        Duration.ofMinutes(5),
        page);
  }

  /** A job that lists so few versions at once that keys are on several pages. */
  LifecycleJob newJob() {
    return new LifecycleJob(parts(metadata, 3));
  }

  static void runAll(LifecycleJob job) throws MetadataUnavailableException, InterruptedException {
    int rounds = 0;
    while (job.run()) {
      if (++rounds == ROUNDS_MAX) {
        throw new AssertionError("it never ends");
      }
    }
  }

  void versioning(Versioning versioning) {
    metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder().setBucket("b").setVersioning(versioning)));
  }

  void lock() {
    versioning(Versioning.VERSIONING_ENABLED);
    metadata.require(
        Command.newBuilder().setSetBucketLock(SetBucketLock.newBuilder().setBucket("b")));
  }

  void rules(String... rules) throws S3Exception {
    StringBuilder xml = new StringBuilder("<LifecycleConfiguration>");
    for (int i = 0; i < rules.length; i++) {
      xml.append("<Rule><ID>r").append(i).append("</ID><Status>Enabled</Status>");
      xml.append(rules[i].contains("<Filter>") ? "" : "<Filter/>").append(rules[i]);
      xml.append("</Rule>");
    }
    xml.append("</LifecycleConfiguration>");
    byte[] document = xml.toString().getBytes(StandardCharsets.UTF_8);
    put(new LifecycleRules(LifecycleReader.read(document, () -> "none"), false));
  }

  void put(LifecycleRules rules) throws S3Exception {
    metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket("b")
                    .setKind(LifecycleDocuments.RULES)
                    .setDocument(LifecycleDocuments.of(rules))));
  }

  void put(String key, int size) throws Exception {
    put(key, size, List.of(), ObjectLock.getDefaultInstance());
  }

  void put(String key, int size, List<Tag> tags, ObjectLock lock) throws Exception {
    ObjectSummary summary = ObjectSummary.newBuilder().setSize(size).setEtag("e").build();
    try (ObjectWriter writer = engine.store().newWriter(size)) {
      writer.write(ByteBuffer.wrap(new byte[size]));
      CommandResult result =
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket("b")
                              .setKey(key)
                              .setSummary(summary)
                              .setFacts(ObjectFacts.newBuilder().addAllTags(tags))
                              .setLock(lock)
                              .addAllBlobs(blobs)));
      if (result.getCodeValue() != 0) {
        throw new AssertionError(result);
      }
    }
  }

  void delete(String key) {
    delete(DeleteTarget.newBuilder().setKey(key));
  }

  void delete(DeleteTarget.Builder target) {
    metadata.require(
        Command.newBuilder()
            .setDeleteObjects(DeleteObjects.newBuilder().setBucket("b").addTargets(target)));
  }

  List<VersionEntry> versions() throws MetadataUnavailableException {
    return metadata.versions(new VersionsQuery("b", "", "", "", null, 1000)).entries();
  }

  /** Each version as its key, and behind it D for a delete marker, or its size and class. */
  List<String> shown() throws MetadataUnavailableException {
    return versions().stream()
        .map(
            entry ->
                entry.getName()
                    + (entry.getDeleteMarker()
                        ? " D"
                        : " "
                            + entry.getSummary().getSize()
                            + entry.getSummary().getStorageClass()))
        .toList();
  }

  LifecycleScanRow scan() throws Exception {
    return LifecycleScanRow.parseFrom(
        metadata
            .documents("b", List.of(LifecycleDocuments.SCAN))
            .getOrDefault(LifecycleDocuments.SCAN, ByteString.EMPTY));
  }

  @Override
  public void close() {
    engine.close();
  }
}
