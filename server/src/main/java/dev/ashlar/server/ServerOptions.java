package dev.ashlar.server;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.DriveConfig;
import dev.ashlar.transport.Transport;
import java.nio.file.Path;
import java.util.List;

/**
 * What the command line and the environment ask for, checked.
 *
 * @param dataFolders one per drive, at least k + m
 * @param metadataFolders 1, 3 or 5
 * @param domains host names under which virtual-host-style requests come
 * @param hedgePercent reads that may be made in addition where drives are late; 0 is off
 */
record ServerOptions(
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
    int hedgePercent) {
  ServerOptions {
    dataFolders = List.copyOf(dataFolders);
    metadataFolders = List.copyOf(metadataFolders);
    domains = List.copyOf(domains);
    if (dataFolders.size() < profile.shards()) {
      throw new IllegalArgumentException(
          "profile "
              + profile
              + " needs at least "
              + profile.shards()
              + " drive folders, --data names "
              + dataFolders.size());
    }
    long capacityMin = DriveConfig.Limits.DEFAULT.capacityBytesMin();
    if (driveCapacityBytes != 0 && driveCapacityBytes < capacityMin) {
      throw new IllegalArgumentException(
          "--drive-capacity "
              + driveCapacityBytes
              + " leaves no room for data: at least "
              + capacityMin
              + " bytes, or 0 for all of the file system");
    }
    if (hedgePercent < 0 || hedgePercent > 100) {
      throw new IllegalArgumentException("--hedge-budget takes 0 to 100, not " + hedgePercent);
    }
    int peers = metadataFolders.size();
    if (peers != 1 && peers != 3 && peers != 5) {
      throw new IllegalArgumentException("--metadata takes 1, 3 or 5 folders, not " + peers);
    }
  }
}
