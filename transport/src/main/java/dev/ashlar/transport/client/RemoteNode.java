package dev.ashlar.transport.client;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.RemoteProcess;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A storage node in another process. It keeps a connection from construction until it is closed;
 * its drives accept nothing while there is none. One connection carries all requests; those for a
 * slow drive wait here, so that they delay no others.
 */
public final class RemoteNode extends RemoteProcess {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

  private final NodeConfig config;
  private final ClientSession.Options options;
  private final Map<UUID, RemoteShardStore> stores = new LinkedHashMap<>();

  /**
   * @param loops the caller closes them
   * @param slabs receive what is read
   * @param random spreads the pauses, so that processes do not reconnect at the same moment
   */
  public RemoteNode(NodeConfig config, EventLoops loops, SlabPool slabs, RandomGenerator random) {
    super(new Endpoint(config.host(), config.port()), loops, config.times().backoff(), random);
    this.config = config;
    // One instance: the node serves its connections one at a time, so that none overtakes another.
    options = config.options();
    for (DriveId drive : config.drives()) {
      stores.put(drive.id(), new RemoteShardStore(drive, config, slabs));
    }
    start();
  }

  @Override
  protected ClientSession<?> newSession() {
    return new DriveClientSession(this, options, config.drives());
  }

  /** The drive, or null if it is not expected at this node. */
  public @Nullable RemoteShardStore store(UUID drive) {
    return stores.get(drive);
  }

  /** Called by the session, on its event loop. */
  void connected(List<DriveId> missing) {
    connected();
    if (!missing.isEmpty()) {
      LOG.warn("{} does not serve {}, or only in an older incarnation", this, missing);
    }
  }
}
