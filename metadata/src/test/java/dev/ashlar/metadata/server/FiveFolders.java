package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.memory.TestBlobs;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Five metadata folders m1 to m5 and how many buckets have been made in them. */
final class FiveFolders implements AutoCloseable {
  private final TestResources resources = new TestResources();
  private final UUID clusterId;
  private final Path root;
  private int buckets;

  FiveFolders(Path root) {
    this(root, UUID.randomUUID());
  }

  private FiveFolders(Path root, UUID clusterId) {
    this.root = root;
    this.clusterId = clusterId;
  }

  /** The same cluster with the same content elsewhere. */
  FiveFolders copyTo(Path target) throws IOException {
    FiveFolders copy = new FiveFolders(target, clusterId);
    copy.buckets = buckets;
    for (int place = 1; place <= 5; place++) {
      copy(folder(place), copy.folder(place));
    }
    return copy;
  }

  UUID cluster() {
    return clusterId;
  }

  Path folder(int place) {
    return root.resolve("m" + place);
  }

  List<Path> all() {
    return IntStream.rangeClosed(1, 5).mapToObj(this::folder).toList();
  }

  /** Where Ratis keeps the log of this folder's peer. */
  Path raft(int place) {
    return folder(place).resolve("raft").resolve(clusterId.toString());
  }

  MetadataServer open() throws Exception {
    return open(all(), Set.of(), CheckpointLimits.DEFAULT);
  }

  /** With the first of them alone. */
  MetadataServer openOnly() throws Exception {
    return open(List.of(folder(1)), Set.of(), CheckpointLimits.DEFAULT);
  }

  MetadataServer open(List<Path> folders, Set<Path> notMounted, CheckpointLimits limits)
      throws Exception {
    return MetadataServer.open(config(folders, notMounted, limits));
  }

  /**
   * Of another build.
   *
   * @param knows the greatest version of metadata that it knows
   */
  MetadataServer open(int knows) throws Exception {
    return MetadataServer.open(config(all(), Set.of(), CheckpointLimits.DEFAULT), knows);
  }

  private MetadataConfig config(List<Path> folders, Set<Path> notMounted, CheckpointLimits limits) {
    return new MetadataConfig(
        folders,
        notMounted,
        clusterId,
        resources.get(),
        new SimpleMeterRegistry(),
        Clock.systemUTC(),
        MetadataConfig.COMMAND_TIMEOUT,
        limits);
  }

  /** Makes buckets. */
  void create(MetadataServer server, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      server.client().submit(TestBlobs.createBucket("b" + buckets));
      buckets++;
    }
  }

  /** All buckets are there. */
  void check(MetadataServer server) throws Exception {
    assertEquals(buckets, server.client().buckets().size());
  }

  static List<FolderStatus.Standing> standings(MetadataServer server) {
    return server.folders().stream().map(FolderStatus::standing).toList();
  }

  void wipe(int place) throws IOException {
    delete(folder(place));
  }

  static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> tree = Files.walk(from)) {
      for (Path path : tree.toList()) {
        Files.copy(path, to.resolve(from.relativize(path)));
      }
    }
  }

  static void awaitMembers(MetadataServer server) throws Exception {
    while (standings(server).stream().anyMatch(FolderStatus.Standing.REBUILDING::equals)) {
      Thread.sleep(20);
    }
  }

  @Override
  public void close() {
    resources.close();
  }
}
