package dev.ashlar.transport.client;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.session.ConnectionKeeper;
import java.io.IOException;
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
 * A storage node of another process. From construction on it keeps a connection, until it is
 * closed; its drives take nothing while there is none. One connection carries everything: requests
 * for a drive that is slow wait here, not in it.
 */
public final class RemoteNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

  private final Endpoint address;
  private final Map<UUID, RemoteShardStore> stores = new LinkedHashMap<>();
  private final ConnectionKeeper keeper;

  /**
   * @param isConnected now
   * @param connections how often it has been connected
   * @param failure why it is not connected, or was not before: a {@link
   *     dev.ashlar.protocol.wire.HandshakeException} where the other side is not what is expected
   */
  public record Status(boolean isConnected, long connections, @Nullable IOException failure) {}

  /**
   * @param loops stay the caller's
   * @param slabs for what is read
   * @param random for pauses between tries, so that not all processes try at the same moment
   */
  public RemoteNode(NodeConfig config, EventLoops loops, SlabPool slabs, RandomGenerator random) {
    address = new Endpoint(config.host(), config.port());
    for (DriveId drive : config.drives()) {
      stores.put(drive.id(), new RemoteShardStore(drive, config, slabs));
    }
    // The node lets one connection at a time speak for this, so that none overtakes the one before.
    UUID instance = UUID.randomUUID();
    NodeConfig.Times times = config.times();
    keeper =
        new ConnectionKeeper(
            address,
            loops,
            new ConnectionKeeper.Pauses(times.retryFirst(), times.retryMax()),
            random,
            () -> new ClientConnection(this, config, instance));
    keeper.start();
  }

  /** The drive, or null if it is not expected there. */
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

  public Status status() {
    ConnectionKeeper.Status now = keeper.status();
    return new Status(now.isConnected(), now.connections(), now.failure());
  }

  /** Waits until it is connected; false if it is not by then. */
  public boolean awaitConnected(Duration timeout) throws InterruptedException {
    return keeper.awaitConnected(timeout);
  }

  /** Told by the connection, on its event loop. */
  void connected(List<DriveId> missing) {
    keeper.connected();
    if (!missing.isEmpty()) {
      LOG.warn("{} does not serve {}, or only in an older life", this, missing);
    }
  }

  /** Ends the connection; what is under way ends with it. */
  @Override
  public void close() {
    keeper.close();
  }
}
