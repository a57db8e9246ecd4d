package dev.ashlar.server.node;

import dev.ashlar.metadata.consensus.NotLeaderException;
import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.network.ElectionTimes;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.server.MetadataPeer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.tls.ClusterTls;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The metadata peer of a process of a cluster. */
final class MetadataRole implements AutoCloseable {
  /** How long the end waits for what only makes the next start faster. */
  static final Duration CHECKPOINT_WAIT = Duration.ofSeconds(10);

  private static final Duration LEASE_WAIT = Duration.ofSeconds(10);

  private final CloseStack opened = new CloseStack();
  private final MetadataPeer peer;

  /**
   * What is open already that it needs.
   *
   * @param tls null: none
   * @param tracer null: nothing is traced
   */
  record Dependencies(
      DriveResources resources,
      FramePort port,
      EventLoops loops,
      @Nullable ClusterTls tls,
      MeterRegistry meters,
      Duration verifyEvery,
      int readsAtOnce,
      @Nullable Tracer tracer) {}

  /**
   * @param folder its own
   * @throws IOException when it is in use, or another peer's; the message says why
   */
  MetadataRole(Path folder, ClusterOptions cluster, Dependencies dependencies, Clock clock)
      throws IOException {
    try {
      Files.createDirectories(folder);
      FolderLocks locks = opened.add(new FolderLocks());
      locks.takeExisting(List.of(folder));
      PeerConfig config =
          new PeerConfig(
              cluster.id(),
              MetadataFolders.peerFolder(folder),
              cluster.address(),
              cluster.metadataNodes(),
              cluster.joinsMetadata(),
              new CallClientConfig(
                  Role.METADATA, cluster.id(), cluster.secret(), dependencies.tls()),
              ElectionTimes.DEFAULT,
              rocks(dependencies.resources(), dependencies.readsAtOnce(), opened),
              dependencies.meters(),
              CheckpointLimits.DEFAULT.withVerifyEvery(dependencies.verifyEvery()),
              clock,
              MetadataVersion.KNOWN);
      peer =
          opened.add(
              MetadataPeer.open(
                  config, dependencies.port(), dependencies.loops(), dependencies.tracer()));
      opened.add(() -> peer.checkpoint(CHECKPOINT_WAIT));
      opened.add(peer::handOver);
      opened.add(peer::setEnding); // the first of all at the end
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  /**
   * Metadata's share of what RocksDB has in this process.
   *
   * @param readsAtOnce of those that wait for a drive
   */
  static RocksResources rocks(DriveResources resources, int readsAtOnce, CloseStack opened) {
    ExecutorService blockingReads =
        opened.add(
            Executors.newFixedThreadPool(
                readsAtOnce, Thread.ofPlatform().name("metadata-read-", 0).daemon().factory()));
    return new RocksResources(
        resources.env(), resources.blockCache(), resources.writeBufferManager(), blockingReads);
  }

  /** The bytes of a backup, if the peer leads. */
  InputStream backUp(UUID cluster, Instant now)
      throws MetadataUnavailableException, Admin.RefusedException, IOException {
    try {
      return peer.backup(cluster, now, LEASE_WAIT);
    } catch (NotLeaderException e) {
      throw new Admin.RefusedException(
          "this metadata node does not lead"
              + e.leader().map(leader -> ": the one at " + leader + " does").orElse("")
              + ". Name the management ports of all metadata nodes");
    }
  }

  QuorumPeer.Status status() {
    return peer.status();
  }

  @Override
  public void close() {
    opened.close();
  }
}
