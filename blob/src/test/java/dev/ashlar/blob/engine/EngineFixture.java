package dev.ashlar.blob.engine;

import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;

/** An engine over drives in memory, one per slot of its only placement group. */
public final class EngineFixture {
  public static final int REMOVALS_MAX = 20;

  public final Profile profile;
  public final SlabPool pool = new SlabPool();
  public final MemoryBudget memory;
  public final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  public final List<MemoryShardStore> drives = new ArrayList<>();
  public final BlobRowsMetadata metadata;
  public final Engine engine;
  public final ObjectStore store;
  private final Map<UUID, ShardStore> reachable = new LinkedHashMap<>();
  public final AbortedWriteCleaner cleaner;

  public EngineFixture(Profile profile) {
    this(profile, new EngineConfig(1 << 20, 2, 1L << 30, Duration.ofSeconds(20)));
  }

  public EngineFixture(Profile profile, EngineConfig config) {
    this(profile, config, new MemoryBudget(64 << 20, Duration.ofSeconds(20)));
  }

  public EngineFixture(Profile profile, EngineConfig config, MemoryBudget memory) {
    this(profile, config, memory, new Hedging(HedgeConfig.OFF, System::nanoTime));
  }

  public EngineFixture(Profile profile, EngineConfig config, MemoryBudget memory, Hedging hedging) {
    this.profile = profile;
    this.memory = memory;
    for (int slot = 0; slot < profile.shards(); slot++) {
      MemoryShardStore drive = new MemoryShardStore(new DriveId(new UUID(1, slot), 1), pool);
      drives.add(drive);
      reachable.put(drive.drive().id(), drive);
    }
    metadata =
        new BlobRowsMetadata(
            new PlacementMap(1, profile, List.of(List.copyOf(reachable.keySet()))));
    engine =
        new EngineBuilder(
                metadata, reachable::get, new ErasureCodes(CodecChoice.AUTO), pool, memory)
            .meters(meters)
            .hedging(hedging)
            .removalsMax(REMOVALS_MAX)
            .build(config);
    store = engine.store();
    cleaner = engine.context().cleaner();
  }

  /** As if the drive had been pulled. */
  public void remove(int slot) {
    reachable.remove(drives.get(slot).drive().id());
  }

  /** From now on the drive is reached through this. */
  public void reachThrough(int slot, ShardStore store) {
    reachable.put(drives.get(slot).drive().id(), store);
  }

  /** Writes the bytes in pieces of varying size. */
  public CommandResult put(byte[] bytes, Random random) throws Exception {
    long expected = random.nextBoolean() ? bytes.length : -1;
    boolean hasMd5 = random.nextBoolean();
    int number = metadata.placement().standardNumber();
    try (ObjectWriter writer =
        hasMd5 ? store.newWriter(number, expected) : store.newWriterWithoutMd5(number, expected)) {
      for (int at = 0; at < bytes.length; ) {
        int count = Math.min(bytes.length - at, 1 + random.nextInt(100_000));
        writer.write(ByteBuffer.wrap(bytes, at, count));
        at += count;
      }
      if (hasMd5 && random.nextBoolean()) {
        byte[] md5 = MessageDigest.getInstance("MD5").digest(bytes);
        if (!MessageDigest.isEqual(md5, writer.md5())) {
          throw new AssertionError("MD5 of " + bytes.length + " bytes");
        }
      }
      return writer.commit(
          blobs -> Command.newBuilder().setPutObject(PutObject.newBuilder().addAllBlobs(blobs)));
    }
  }

  public byte[] get(long offset, long length) throws Exception {
    ObjectRead object = Objects.requireNonNull(metadata.object);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    store.read(
        object,
        new ByteRange(offset, length),
        piece -> {
          if (pool.lentBytes() > memory.limitBytes()) {
            throw new AssertionError(pool.lentBytes() + " bytes lent");
          }
          byte[] bytes = new byte[piece.bytes().remaining()];
          piece.bytes().get(bytes);
          out.write(bytes, 0, bytes.length);
          // A receiver may do so, even where others are rebuilt from these bytes.
          piece.bytes().put(piece.bytes().position() - bytes.length, new byte[bytes.length]);
          piece.release();
        });
    return out.toByteArray();
  }

  public long count(String name) {
    return (long) meters.get(name).counters().stream().mapToDouble(each -> each.count()).sum();
  }

  public long storedBytes() {
    return drives.stream().mapToLong(MemoryShardStore::storedBytes).sum();
  }

  public static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
