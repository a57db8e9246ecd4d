package dev.ashlar.transport.client;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.ConnectionKeeper;
import java.time.Duration;
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
public final class RemoteNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

  private final Endpoint address;
  private final Map<UUID, RemoteShardStore> stores = new LinkedHashMap<>();
  private final ConnectionKeeper keeper;

  /**
   * @param loops the caller closes them
   * @param slabs receive what is read
   * @param random spreads the pauses, so that processes do not reconnect at the same moment
   */
  public RemoteNode(NodeConfig config, EventLoops loops, SlabPool slabs, RandomGenerator random) {
    address = new Endpoint(config.host(), config.port());
    for (DriveId drive : config.drives()) {
      stores.put(drive.id(), new RemoteShardStore(drive, config, slabs));
    }
    // One instance: the node serves its connections one at a time, so that none overtakes another.
    ClientSession.Options options = config.options();
    keeper =
        new ConnectionKeeper(
            address,
            loops,
            config.times().backoff(),
            random,
            () -> new DriveClientSession(this, options, config.drives()));
    keeper.start();
  }

  /** The drive, or null if it is not expected at this node. */
  public @Nullable RemoteShardStore store(UUID drive) {
    return stores.get(drive);
  }

  public String address() {
    return address.toString();
  }

  @Override
  public String toString() {
    return address();
  }

  public ConnectionKeeper.Status status() {
    return keeper.status();
  }

  /** Waits until it is connected; false after the timeout. */
  public boolean awaitConnected(Duration timeout) throws InterruptedException {
    return keeper.awaitConnected(timeout);
  }

  /** Called by the session, on its event loop. */
  void connected(List<DriveId> missing) {
    keeper.connected();
    if (!missing.isEmpty()) {
      LOG.warn("{} does not serve {}, or only in an older incarnation", this, missing);
    }
  }

  /** Ends the connection and fails the calls under way. */
  @Override
  public void close() {
    keeper.close();
  }
}
