package dev.ashlar.server.config;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.DriveConfig;
import dev.ashlar.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the command line and the environment ask for, checked.
 *
 * @param dataFolders one per drive; at least k + m where they are all there are
 * @param metadataFolders 1, 3 or 5; of a cluster's metadata node 1, of its others none
 * @param domains host names under which virtual-host-style requests come
 * @param hangAfter how long one read or write of a drive may run before the drive counts as failed
 * @param hedgePercent reads that may be made in addition where drives are late; 0 is off
 * @param repairBytesPerSecond that repair may read; 0: as much as it can
 * @param moveBytesPerSecond that may be read to move shards; 0: as much as it can
 * @param scrub how drives are read through
 * @param cluster null: this process is the whole store
 */
public record ServerOptions(
    List<Path> dataFolders,
    List<Path> metadataFolders,
    Profile profile,
    Address listen,
    Address managementListen,
    CodecChoice codec,
    String region,
    List<String> domains,
    Transport transport,
    long driveCapacityBytes,
    Duration hangAfter,
    int hedgePercent,
    long repairBytesPerSecond,
    long moveBytesPerSecond,
    ScrubOptions scrub,
    @Nullable ClusterOptions cluster) {
  public ServerOptions {
    dataFolders = List.copyOf(dataFolders);
    metadataFolders = List.copyOf(metadataFolders);
    domains = List.copyOf(domains);
    long capacityMin = DriveConfig.Limits.DEFAULT.capacityBytesMin();
    if (driveCapacityBytes != 0 && driveCapacityBytes < capacityMin) {
      throw new IllegalArgumentException(
          "--drive-capacity "
              + driveCapacityBytes
              + " leaves no room for data: at least "
              + capacityMin
              + " bytes, or 0 for all of the file system");
    }
    if (hangAfter.compareTo(DriveConfig.Limits.DEFAULT.stallTimeout()) < 0) {
      throw new IllegalArgumentException(
          "--hang-after takes seconds, at least "
              + DriveConfig.Limits.DEFAULT.stallTimeout().toSeconds());
    }
    if (hedgePercent < 0 || hedgePercent > 100) {
      throw new IllegalArgumentException("--hedge-budget takes 0 to 100, not " + hedgePercent);
    }
    if (repairBytesPerSecond < 0) {
      throw new IllegalArgumentException("--repair-rate takes bytes, not " + repairBytesPerSecond);
    }
    if (moveBytesPerSecond < 0) {
      throw new IllegalArgumentException("--rebalance-rate takes bytes, not " + moveBytesPerSecond);
    }
    if (cluster == null) {
      checkAlone(dataFolders.size(), metadataFolders.size(), profile);
    } else {
      checkInCluster(metadataFolders.size(), profile, cluster);
    }
  }

  private static void checkAlone(int drives, int peers, Profile profile) {
    if (drives < profile.shards()) {
      throw new IllegalArgumentException(
          "profile "
              + profile
              + " needs at least "
              + profile.shards()
              + " drive folders, --data names "
              + drives);
    }
    if (peers != 1 && peers != 3 && peers != 5) {
      throw new IllegalArgumentException("--metadata takes 1, 3 or 5 folders, not " + peers);
    }
  }

  private static void checkInCluster(int metadataFolders, Profile profile, ClusterOptions cluster) {
    if (cluster.has(ServerRole.METADATA) && metadataFolders != 1) {
      throw new IllegalArgumentException(
          "a metadata node of a cluster has one folder: --metadata names " + metadataFolders);
    }
    int expected = cluster.expectedDrives();
    if (cluster.has(ServerRole.STORAGE) && expected > 0 && expected < profile.shards()) {
      throw new IllegalArgumentException(
          "profile " + profile + " needs more than the --expect-drives " + expected);
    }
  }
}
