package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.Registry;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The cluster as a gateway sees it. */
public interface ClusterView {
  /** The nodes and drives as they were seen last. */
  Registry registry();

  /** Whether that was just now: metadata answers. */
  boolean isFresh();

  /** Whether all objects had all shards then. */
  Protection protection();

  /** What could not be read then, and what was at risk. */
  DataRisk risk();

  /** The drive, or null when nothing can be asked of it now. */
  @Nullable ShardStore reached(UUID drive);
}
