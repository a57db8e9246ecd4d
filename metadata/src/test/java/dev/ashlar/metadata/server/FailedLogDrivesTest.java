package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.fault.PowerCutFileSystem;
import dev.ashlar.transport.metadata.RemoteMetadata;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes and syncs of a peer's log report I/O errors, because the drive of its folder is gone. */
@Tag("slow")
@Timeout(120)
class FailedLogDrivesTest {
  private static final long BYTES = 512L << 20;

  /** Longer than an election. */
  private static final Duration LONG = Duration.ofSeconds(20);

  /** Longer than entries need to be sent again. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  private static final int AFTER = 20;

  @TempDir Path root = Path.of("");
  private final UUID cluster = UUID.randomUUID();

  private MetadataServer open(TestResources resources, Duration commandTimeout) throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(folder(1), folder(2), folder(3)),
            Set.of(),
            cluster,
            resources.get(),
            new SimpleMeterRegistry(),
            Clock.systemUTC(),
            commandTimeout,
            CheckpointLimits.DEFAULT));
  }

  private Path folder(int place) {
    return root.resolve("drive" + place).resolve("metadata");
  }

  private PowerCutFileSystem drive(PowerCutFileSystem.Kind kind, int place) throws Exception {
    return PowerCutFileSystem.create(
        kind, root.resolve("drive" + place), root.resolve("images" + place), BYTES);
  }

  /** Ratis sends failed entries again, and then takes them for written. */
  @ParameterizedTest
  @EnumSource
  void whatOnePeerOfThreeHasWrittenIsNotAcknowledged(PowerCutFileSystem.Kind kind)
      throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    try (TestResources resources = new TestResources();
        PowerCutFileSystem second = drive(kind, 2);
        PowerCutFileSystem third = drive(kind, 3)) {
      try (MetadataServer server = open(resources, SHORT)) {
        server.client().submit(TestBlobs.createBucket("before"));
        PowerCutFileSystem.cut(List.of(second, third));
        assertThrows(
            MetadataUnavailableException.class,
            () -> server.client().submit(TestBlobs.createBucket("unknown")));
      }
      second.remount();
      third.remount();
      try (MetadataServer server = open(resources, SHORT)) {
        server.client().submit(TestBlobs.createBucket("after"));
        assertEquals(Standing.MEMBER, FiveFolders.standings(server).getFirst());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void likewiseOverSockets(PowerCutFileSystem.Kind kind) throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    try (LoopbackGroup group = new LoopbackGroup(root, 3)) {
      List<PowerCutFileSystem> drives = new ArrayList<>();
      try {
        for (int place = 0; place < 3; place++) {
          drives.add(
              PowerCutFileSystem.create(
                  kind, group.folder(place), root.resolve("images" + place), BYTES));
        }
        group.startAll();
        try (RemoteMetadata client = group.client()) {
          BucketLoad.createBucket(client, "before"); // peers are elected, however long that takes
        }
        try (RemoteMetadata client = group.client(group.endpoints(), SHORT)) {
          List<PowerCutFileSystem> followers = new ArrayList<>(drives);
          followers.remove(group.awaitLeader());
          PowerCutFileSystem.cut(followers);
          assertThrows(
              MetadataUnavailableException.class,
              () -> client.submit(TestBlobs.createBucket("unknown")));
        }
        for (int place = 0; place < 3; place++) {
          group.kill(place);
        }
      } finally {
        for (PowerCutFileSystem drive : drives) {
          drive.close();
        }
      }
    }
  }

  private void assertTheOthersGoOn(PowerCutFileSystem.Kind kind, int failing) throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    try (TestResources resources = new TestResources();
        PowerCutFileSystem drive = drive(kind, failing)) {
      try (MetadataServer server = open(resources, LONG)) {
        server.client().submit(TestBlobs.createBucket("before"));
        drive.cut();
        for (int i = 0; i < AFTER; i++) {
          server.client().submit(TestBlobs.createBucket("after-" + i));
        }
        while (FiveFolders.standings(server).get(failing - 1) != Standing.LEFT_OUT) {
          Thread.sleep(10);
        }
      }
      drive.remount();
      try (MetadataServer server = open(resources, LONG)) {
        assertEquals(1 + AFTER, server.client().buckets().size());
      }
    }
  }

  /** The first peer leads. */
  @ParameterizedTest
  @EnumSource
  void theOthersGoOnWithoutTheLeader(PowerCutFileSystem.Kind kind) throws Exception {
    assertTheOthersGoOn(kind, 1);
  }

  @ParameterizedTest
  @EnumSource
  void theOthersGoOnWithoutAFollower(PowerCutFileSystem.Kind kind) throws Exception {
    assertTheOthersGoOn(kind, 2);
  }
}
