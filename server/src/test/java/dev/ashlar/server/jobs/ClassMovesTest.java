package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Jobs over the real engine and metadata, on drives in memory. */
class ClassMovesTest {
  private static final Profile PROFILE = new Profile(2, 2, 4096);
  private static final int ROUNDS_MAX = 1000;

  private final MemoryMetadata metadata = MemoryMetadata.withDrives(PROFILE, 4, 2);
  private final Map<UUID, ShardStore> drives = new LinkedHashMap<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SlabPool slabs = new SlabPool();
  private final ErasureCodes codes = new ErasureCodes(CodecChoice.AUTO);
  private final Engine engine;
  private final Map<String, byte[]> contents = new LinkedHashMap<>();
  private final Random random = new Random(25);
  private final ManualClock clock = new ManualClock(5000);

  ClassMovesTest() {
    for (UUID id : MemoryMetadata.sequentialIds(4)) {
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
    metadata.require(TestProfiles.add(metadata, "HOT", new Profile(1, 2, 4096), 2));
    metadata.require(TestBlobs.createBucket("b"));
  }

  private ClassMoves newJob() {
    return new ClassMoves(
        metadata, engine.newVersionMover(), new ByteRateLimiter(0), clock, meters);
  }

  private void put(String key, int length) throws Exception {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    try (ObjectWriter writer = engine.store().newWriter(length)) {
      writer.write(ByteBuffer.wrap(bytes));
      ObjectSummary summary = ObjectSummary.newBuilder().setSize(length).setEtag("e").build();
      writer.commit(
          blobs ->
              Command.newBuilder()
                  .setPutObject(
                      PutObject.newBuilder()
                          .setBucket("b")
                          .setKey(key)
                          .setSummary(summary)
                          .addAllBlobs(blobs)));
    }
    contents.put(key, bytes);
  }

  private long begin(String prefix, String storageClass) throws Exception {
    BeginMove.Builder move =
        BeginMove.newBuilder().setBucket("b").setPrefix(prefix).setStorageClass(storageClass);
    return metadata.submit(Command.newBuilder().setBeginMove(move)).getVersion();
  }

  private MoveJobRow job(int index) throws Exception {
    return metadata.moveJobs().get(index);
  }

  private void runAll(ClassMoves moves) throws Exception {
    for (int rounds = 0; moves.run(); rounds++) {
      assertTrue(rounds < ROUNDS_MAX, "it never ends");
    }
  }

  private byte[] get(ObjectRead object) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long size = object.object().getSummary().getSize();
    engine
        .store()
        .read(
            object,
            new ByteRange(0, size),
            piece -> {
              byte[] bytes = new byte[piece.bytes().remaining()];
              piece.bytes().get(bytes);
              out.writeBytes(bytes);
              piece.release();
            });
    return out.toByteArray();
  }

  private void assertAt(String key, int profile, String storageClass) throws Exception {
    ObjectRead object = metadata.object("b", key).orElseThrow();
    assertEquals(storageClass, object.object().getSummary().getStorageClass(), key);
    object
        .object()
        .getSlicesList()
        .forEach(slice -> assertEquals(profile, BlobId.of(slice.getBlob()).profile(), key));
    assertArrayEquals(contents.get(key), get(object), key);
  }

  @Test
  void objectsWithThePrefixAreMovedThereAndBack() throws Exception {
    for (int i = 0; i < 150; i++) {
      put("p/" + i, i * 100);
    }
    put("other", 1000);
    ClassMoves moves = newJob();
    assertFalse(moves.run());
    begin("p/", "HOT");
    runAll(moves);
    for (int i = 0; i < 150; i++) {
      assertAt("p/" + i, 1, "HOT");
    }
    assertAt("other", 0, "");
    MoveJobRow done = job(0);
    long bytes = 100L * 149 * 150 / 2;
    assertEquals(MoveJobRow.State.DONE, done.getState());
    assertEquals("", done.getReason());
    assertEquals(5000, done.getEndedMs());
    assertEquals(
        List.of(150L, bytes, 150L, bytes, 150L, bytes, 0L),
        List.of(
            done.getVersionsFound(),
            done.getBytesFound(),
            done.getVersionsPassed(),
            done.getBytesPassed(),
            done.getVersionsMoved(),
            done.getBytesMoved(),
            done.getVersionsFailed()));
    assertEquals(150, meters.get("ashlar.profile.moved.versions").counter().count());
    assertEquals((double) bytes, meters.get("ashlar.profile.moved").counter().count());
    begin("p/", "HOT");
    begin("", "");
    runAll(newJob());
    assertEquals(0, job(1).getVersionsMoved());
    assertEquals(150, job(2).getVersionsMoved());
    for (String key : contents.keySet()) {
      assertAt(key, 0, "");
    }
  }

  @Test
  void olderVersionsAreMovedAndDeleteMarkersAreNot() throws Exception {
    put("k", 100);
    metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket("b")
                    .setVersioning(Versioning.VERSIONING_ENABLED)));
    put("k", 200);
    put("k", 300);
    metadata.require(TestBlobs.delete("b", "k"));
    begin("", "HOT");
    runAll(newJob());
    List<VersionEntry> entries =
        metadata.versions(new VersionsQuery("b", "", "", "", null, 10)).entries();
    assertEquals(
        List.of("", "HOT", "HOT", "HOT"),
        entries.stream().map(entry -> entry.getSummary().getStorageClass()).toList());
    assertEquals(3, job(0).getVersionsMoved());
  }

  /** The next one does not know what the one before has done since it last told. */
  @Test
  void anotherGatewayGoesOnWhereMetadataWasLost() throws Exception {
    for (int i = 0; i < 200; i++) {
      put("k" + i, 500);
    }
    begin("", "HOT");
    int[] left = {90};
    metadata.observe(
        (command, applied) -> {
          if (command.hasMoveObject() && --left[0] == 0) {
            metadata.setUnavailable(true);
          }
        });
    assertThrows(MetadataUnavailableException.class, () -> runAll(newJob()));
    metadata.setUnavailable(false);
    assertTrue(job(0).getVersionsPassed() < 200);
    runAll(newJob());
    assertEquals(MoveJobRow.State.DONE, job(0).getState());
    assertEquals(200, job(0).getVersionsPassed());
    for (String key : contents.keySet()) {
      assertAt(key, 1, "HOT");
    }
  }

  @Test
  void aJobThatIsStoppedLeavesTheRestWhereItIs() throws Exception {
    for (int i = 0; i < 200; i++) {
      put("k" + i, 500);
    }
    begin("", "HOT");
    begin("k1", "HOT");
    int[] left = {150};
    metadata.observe(
        (command, applied) -> {
          if (command.hasMoveObject() && --left[0] == 0) {
            stopFirst();
          }
        });
    runAll(newJob());
    assertEquals(MoveJobRow.State.STOPPED, job(0).getState());
    assertEquals(MoveJobRow.State.DONE, job(1).getState());
    assertAt("k1", 1, "HOT");
    assertAt("k99", 0, "");
  }

  private void stopFirst() {
    try {
      metadata.require(
          Command.newBuilder()
              .setSaveMove(
                  SaveMove.newBuilder()
                      .setJob(job(0).toBuilder().setState(MoveJobRow.State.STOPPED))));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whatCannotBeMovedIsTriedAgainAndCounted() throws Exception {
    put("a", 1000);
    put("b", 1000);
    ObjectRead lost = metadata.object("b", "a").orElseThrow();
    UUID[] gone = {
      metadata.placement().location(lost.blobs().getFirst(), 0),
      metadata.placement().location(lost.blobs().getFirst(), 1),
      metadata.placement().location(lost.blobs().getFirst(), 2)
    };
    Map<UUID, ShardStore> away = new LinkedHashMap<>();
    for (UUID drive : gone) {
      away.put(drive, drives.remove(drive));
    }
    begin("", "HOT");
    ClassMoves moves = newJob();
    for (int i = 0; i < 10 && job(0).getState() != MoveJobRow.State.DONE; i++) {
      moves.run();
    }
    MoveJobRow job = job(0);
    assertEquals(MoveJobRow.State.DONE, job.getState());
    assertEquals(2, job.getVersionsFailed());
    assertEquals(2, job.getPass());
    assertTrue(job.getReason().contains("could not be moved"), job.getReason());
    assertEquals(6, meters.get("ashlar.profile.move.failures").counter().count());
    drives.putAll(away);
    begin("", "HOT");
    runAll(moves);
    assertAt("a", 1, "HOT");
    assertAt("b", 1, "HOT");
    assertEquals(0, job(1).getVersionsFailed());
  }

  @Test
  void aJobWaitsWhileTheDrivesAreFull() throws Exception {
    for (int i = 0; i < 100; i++) {
      put("k" + i, 1000);
    }
    begin("", "HOT");
    begin("", "");
    int[] left = {80};
    metadata.observe(
        (command, applied) -> {
          if (command.hasMoveObject() && --left[0] == 0) {
            failWrites(ShardFault.FULL);
          }
        });
    ClassMoves moves = newJob();
    assertTrue(Double.isNaN(moves("full")));
    runAll(moves);
    for (int i = 0; i < 3; i++) {
      assertEquals(MoveJobRow.State.FULL, job(0).getState());
      assertEquals("the drives are full", job(0).getReason());
      assertTrue(job(0).getBytesPassed() <= 80_000, job(0)::toString);
      assertFalse(moves.run());
      assertEquals(1, moves("full"));
      assertEquals(1, moves("waiting"));
    }
    assertEquals(0, meters.get("ashlar.profile.move.failures").counter().count());
    metadata.require(TestBlobs.delete("b", "k99"));
    contents.remove("k99");
    for (String key : contents.keySet()) {
      assertArrayEquals(contents.get(key), get(metadata.object("b", key).orElseThrow()), key);
    }
    failWrites(null);
    while (job(0).getState() != MoveJobRow.State.DONE) {
      assertTrue(moves.run());
    }
    assertEquals("", job(0).getReason());
    assertEquals(
        List.of(99L, 99_000L, 99L, 99_000L),
        List.of(
            job(0).getVersionsPassed(),
            job(0).getBytesPassed(),
            job(0).getVersionsMoved(),
            job(0).getBytesMoved()));
    for (String key : contents.keySet()) {
      assertAt(key, 1, "HOT");
    }
    runAll(moves);
    assertEquals(0, moves("full"));
    moves.skip();
    assertTrue(Double.isNaN(moves("waiting")));
  }

  /**
   * @param fault null: they take writes
   */
  private void failWrites(@Nullable ShardFault fault) {
    drives.values().forEach(drive -> ((MemoryShardStore) drive).failWrites(fault));
  }

  private double moves(String state) {
    return meters.get("ashlar.profile.moves").tag("state", state).gauge().value();
  }

  @Test
  void aJobEndsWithItsBucket() throws Exception {
    begin("", "HOT");
    metadata.require(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b")));
    metadata.require(TestBlobs.createBucket("b"));
    put("k", 10);
    runAll(newJob());
    assertEquals(MoveJobRow.State.STOPPED, job(0).getState());
    assertAt("k", 0, "");
  }
}
