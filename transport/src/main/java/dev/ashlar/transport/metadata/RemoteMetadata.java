package dev.ashlar.transport.metadata;

import com.google.protobuf.Empty;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import dev.ashlar.protocol.client.MetadataPeers;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.QueryingMetadataClient;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.ClusterWatch;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PeersChange;
import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client of metadata peers in other processes. It finds the leader, and repeats calls that get
 * no answer until their time is over.
 *
 * <p>It watches the placement map and the drives. Its copy is usually at most a tenth of a second
 * old, and older while no leader can be reached. That is safe: commits name the epoch and the
 * drives' incarnations, so what was decided with an old copy is refused or becomes a debt.
 */
public final class RemoteMetadata extends QueryingMetadataClient
    implements MetadataPeers, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteMetadata.class);
  private static final long WATCH_PAUSE_MS = 100;

  /** Pause after an answer that cannot be parsed, which would arrive again immediately. */
  private static final long MALFORMED_PAUSE_MS = 1_000;

  /** Limit of waiting for a map that a row names; the watch brings it soon. */
  private static final Duration VIEW_WAIT = Duration.ofSeconds(2);

  /** Limit of waiting for the first map, without which nothing can be done. */
  private static final Duration FIRST_VIEW_WAIT = Duration.ofMinutes(1);

  private final LeaderCalls calls;
  private final List<Endpoint> configured;
  private final AtomicLong requests = new AtomicLong();
  private final ReentrantLock viewLock = new ReentrantLock();
  private final Condition viewChanged = viewLock.newCondition();
  private long session;
  private volatile ClusterView view = ClusterView.NONE;
  private @Nullable BackgroundThread watch;

  private RemoteMetadata(LeaderCalls calls, List<Endpoint> configured) {
    this.calls = calls;
    this.configured = configured;
  }

  /**
   * Connects, registers a session and learns the placement map.
   *
   * @param loops the caller closes them
   * @throws HandshakeException when the peers refuse this process for a lasting reason
   * @throws MetadataUnavailableException when no leader answers within the limit of a call
   */
  public static RemoteMetadata open(RemoteMetadataConfig config, EventLoops loops)
      throws MetadataUnavailableException, HandshakeException {
    RemoteMetadata client = new RemoteMetadata(new LeaderCalls(config, loops), config.peers());
    try {
      client.session =
          client
              .submit(Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()))
              .getSession();
      client.refresh();
    } catch (MetadataUnavailableException e) {
      HandshakeException refusal = client.calls.refusal();
      client.close();
      if (refusal != null) {
        throw refusal;
      }
      throw e;
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
    client.watch = BackgroundThread.start("metadata-watch", client::watch);
    return client;
  }

  @Override
  public long session() {
    return session;
  }

  @Override
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    Command identified = command.setSession(session).setRequest(requests.incrementAndGet()).build();
    CommandResult result = call(Method.SUBMIT, identified, CommandResult.parser());
    if (changesView(identified)) {
      refreshAfterChange();
    }
    return result;
  }

  /** The command has taken effect whatever happens here. */
  private void refreshAfterChange() throws MetadataUnavailableException {
    try {
      refresh();
    } catch (MetadataUnavailableException e) {
      throw MetadataUnavailableException.unknown(
          "the change is committed but not visible here yet", e);
    }
  }

  /** Whether the command changes the map or the drives, which its caller will read next. */
  private static boolean changesView(Command command) {
    return command.hasPutDrives() || command.hasRegisterNode() || command.hasMoveSlots();
  }

  private <T> T call(Method method, MessageLite body, Parser<T> parser)
      throws MetadataUnavailableException {
    byte[] answer = calls.call(method, body.toByteArray());
    try {
      return parser.parseFrom(answer);
    } catch (InvalidProtocolBufferException e) {
      throw MetadataUnavailableException.unknown("malformed answer", e);
    }
  }

  @Override
  protected MetadataAnswer ask(MetadataQuery.Builder query) throws MetadataUnavailableException {
    return call(Method.QUERY, query.build(), MetadataAnswer.parser());
  }

  // ---- The placement map and the drives ----

  private void refresh() throws MetadataUnavailableException {
    take(call(Method.WATCH, ClusterWatch.getDefaultInstance(), ClusterState.parser()));
  }

  private void take(ClusterState state) {
    takePeers(state.getMetadataPeersList().stream().map(Endpoint::parse).toList());
    ClusterView taken = ClusterView.of(state);
    viewLock.lock();
    try {
      if (taken.isNotBefore(view)) {
        view = taken;
        viewChanged.signalAll();
      }
    } finally {
      viewLock.unlock();
    }
  }

  /** The leader knows the peers; the configured ones may be long gone. */
  private void takePeers(List<Endpoint> peers) {
    if (!peers.isEmpty() && calls.setPeers(peers)) {
      LOG.info("The metadata peers are now {} (configured: {}).", peers, configured);
    }
  }

  private void watch() throws InterruptedException {
    long version = 0;
    while (!Thread.interrupted()) {
      try {
        ClusterWatch known = ClusterWatch.newBuilder().setVersion(version).build();
        ClusterState state = call(Method.WATCH, known, ClusterState.parser());
        if (state.getVersion() != version) {
          take(state);
          version = state.getVersion();
        }
      } catch (MetadataUnavailableException e) {
        LOG.debug("refreshing the placement map failed; keeping the known one: {}", e.getMessage());
        TimeUnit.MILLISECONDS.sleep(WATCH_PAUSE_MS);
      } catch (RuntimeException e) {
        LOG.warn(
            "Refreshing the placement map failed because the answer is malformed; keeping the known map.",
            e);
        TimeUnit.MILLISECONDS.sleep(MALFORMED_PAUSE_MS);
      }
    }
  }

  @Override
  public PlacementMap placement() {
    PlacementMap placement = view.placement();
    if (placement == null) {
      throw new IllegalStateException("the placement map is not known yet");
    }
    return placement;
  }

  @Override
  public PlacementMap placement(long epoch) {
    if (!isKnown(epoch)) {
      awaitKnown(epoch);
    }
    return placement();
  }

  private void awaitKnown(long epoch) {
    long left = (view.placement() == null ? FIRST_VIEW_WAIT : VIEW_WAIT).toNanos();
    viewLock.lock();
    try {
      while (!isKnown(epoch) && left > 0) {
        left = viewChanged.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      viewLock.unlock();
    }
  }

  private boolean isKnown(long epoch) {
    PlacementMap placement = view.placement();
    return placement != null && placement.epoch() >= epoch;
  }

  @Override
  public Map<UUID, DriveId> drives() {
    return view.drives();
  }

  // ---- The peers ----

  @Override
  public PeersStatus peers() throws MetadataUnavailableException {
    return call(Method.PEERS, Empty.getDefaultInstance(), PeersStatus.parser());
  }

  @Override
  public PeersChangeAnswer changePeers(String add, String remove)
      throws MetadataUnavailableException {
    PeersChange change = PeersChange.newBuilder().setAdd(add).setRemove(remove).build();
    return call(Method.CHANGE_PEERS, change, PeersChangeAnswer.parser());
  }

  /** The session stays registered until another process ends it. */
  @Override
  public void close() {
    calls.close(); // first, because it ends the calls that the watch waits for
    BackgroundThread.closeIfStarted(watch);
  }
}
