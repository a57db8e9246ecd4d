package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.table.RocksResources;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Configuration of the metadata role of a process that runs all peers.
 *
 * @param folders 1, 3 or 5, one Raft peer each; always in the same order
 * @param notMounted the folders that are not mounted at present: nothing is written to them
 * @param commandTimeout how long a command may wait for its answer
 */
public record MetadataConfig(
    List<Path> folders,
    Set<Path> notMounted,
    UUID clusterId,
    RocksResources resources,
    MeterRegistry meters,
    Clock clock,
    Duration commandTimeout,
    CheckpointLimits checkpoints) {
  public static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(10);

  public MetadataConfig {
    folders = folders.stream().map(MetadataConfig::absolute).toList();
    notMounted =
        notMounted.stream().map(MetadataConfig::absolute).collect(Collectors.toUnmodifiableSet());
    if (folders.size() != 1 && folders.size() != 3 && folders.size() != 5) {
      throw new IllegalArgumentException(
          folders.size()
              + " metadata folders: configure 1, 3 or 5, so that there can be a majority");
    }
    if (folders.stream().distinct().count() != folders.size()) {
      throw new IllegalArgumentException("a metadata folder is configured twice: " + folders);
    }
    for (Path folder : folders) {
      // Ratis keeps its folders in one setting and cuts that at commas.
      if (folder.toString().indexOf(',') >= 0) {
        throw new IllegalArgumentException(
            "metadata folder " + folder + ": its path must not contain a comma");
      }
    }
  }

  public MetadataConfig(
      List<Path> folders, UUID clusterId, RocksResources resources, MeterRegistry meters) {
    this(
        folders,
        Set.of(),
        clusterId,
        resources,
        meters,
        Clock.systemUTC(),
        COMMAND_TIMEOUT,
        CheckpointLimits.DEFAULT);
  }

  private static Path absolute(Path folder) {
    return folder.toAbsolutePath().normalize();
  }
}
