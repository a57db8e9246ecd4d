package dev.ashlar.server.node;

import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.server.cluster.ClusterDrives;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the garbage of the cluster while this is the first of its gateways. Two may think so for
 * a moment: they do the same twice. What a gateway that is down still reads may go; then its reads
 * end, and bring no wrong byte.
 */
final class ClusterGarbage implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterGarbage.class);

  private final GarbageCollector collector;
  private final ClusterDrives drives;
  private final Duration interval;
  private final BackgroundThread worker;

  ClusterGarbage(GarbageCollector collector, ClusterDrives drives, GarbageConfig config) {
    this.collector = collector;
    this.drives = drives;
    this.interval = config.interval();
    this.worker = BackgroundThread.start("cluster-garbage", this::run);
  }

  private void run() throws InterruptedException {
    while (true) {
      Thread.sleep(interval);
      try {
        // Its grace is longer than what was seen is old: no read began unseen that needs it.
        if (drives.isFresh() && drives.isFirstGateway()) {
          collector.collect();
        }
      } catch (MetadataUnavailableException e) {
        LOG.debug("no garbage collected: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("garbage collection failed; it goes on", e);
      }
    }
  }

  @Override
  public void close() {
    worker.close();
  }
}
