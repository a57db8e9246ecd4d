package dev.ashlar.storage.drive;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.io.IoMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Small drives for tests. */
public final class TestDrives {
  static final UUID CLUSTER = new UUID(11, 12);
  static final Clock CLOCK = Clock.fixed(Instant.ofEpochSecond(1000), ZoneOffset.UTC);

  /** No test runs into it by chance. */
  static final Duration STALL = Duration.ofSeconds(60);

  /** Segments of 4 MiB, a reserve of two of them, and checkpoints now and then. */
  public static final DriveConfig.Limits LIMITS =
      new DriveConfig.Limits(
          4 << 20,
          Long.MAX_VALUE,
          1 << 20,
          4096,
          64 << 20,
          4096,
          4 << 20,
          8 << 20,
          1L << 30,
          STALL,
          STALL);

  /** Segments of 128 KiB, a reserve of one, and a checkpoint after every batch. */
  static final DriveConfig.Limits TINY =
      new DriveConfig.Limits(
          128 << 10, Long.MAX_VALUE, 128 << 10, 64, 1 << 20, 64, 128 << 10, 1, 1, STALL, STALL);

  private static final Map<Profile, ErasureCode> CODES = new ConcurrentHashMap<>();

  private TestDrives() {}

  public static DriveResources resources(SlabPool slabs) {
    return resources(slabs, 16);
  }

  /**
   * @param openSegments of each drive, beside those that are in use
   */
  public static DriveResources resources(SlabPool slabs, int openSegments) {
    return new DriveResources(
        slabs,
        new SimpleMeterRegistry(),
        CLOCK,
        TestDrives::code,
        new DriveResources.Budget(8 << 20, 4 << 20, 4, 1 << 20, openSegments, 64));
  }

  public static RocksShardIndex index(Path folder, DriveResources resources) throws IOException {
    return new RocksShardIndex(folder, resources.index(), failure -> {});
  }

  /** Never closed: there are few, and they hold nothing. */
  static ErasureCode code(Profile profile) {
    return CODES.computeIfAbsent(
        profile,
        wanted -> Codecs.create(CodecChoice.JAVA, wanted.dataShards(), wanted.parityShards()));
  }

  static DriveConfig config(Path folder, IoMode mode) {
    return new DriveConfig(folder, CLUSTER, null, 0, mode, LIMITS);
  }

  /** A drive for tests of other packages, with what it needs. */
  public static final class Opened implements AutoCloseable {
    private final DriveResources resources;
    private @Nullable DriveStore store;

    public Opened(SlabPool slabs) {
      resources = resources(slabs);
    }

    public DriveStore open(Path folder, IoMode mode) throws IOException {
      DriveStore opened = DriveStore.open(config(folder, mode), resources);
      store = opened;
      return opened;
    }

    @Override
    public void close() throws IOException {
      if (store != null) {
        store.close();
      }
      resources.close();
    }
  }
}
