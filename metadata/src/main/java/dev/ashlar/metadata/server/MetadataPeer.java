package dev.ashlar.metadata.server;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.backup.BackupHeader;
import dev.ashlar.metadata.backup.MetadataBackup;
import dev.ashlar.metadata.consensus.NotLeaderException;
import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.ClusterWatch;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.LeaderHint;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PeersChange;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallServer;
import dev.ashlar.transport.call.CallServerConfig;
import dev.ashlar.transport.call.IncomingCall;
import dev.ashlar.transport.session.FramePort;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The metadata role of a process whose Raft group spans several processes: one peer, and the
 * service for clients and other peers. This process uses the group as a client as well.
 */
public final class MetadataPeer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MetadataPeer.class);
  private static final RateLimitedLog INVALID = new RateLimitedLog(LOG, Level.WARN);
  private static final RateLimitedLog FAILED = new RateLimitedLog(LOG, Level.WARN);
  private static final long WATCH_NANOS_MAX = Duration.ofSeconds(5).toNanos();

  private final QuorumPeer peer;
  private final ClusterFeed feed = new ClusterFeed();
  private final @Nullable Tracer tracer;
  private final CallServer calls;

  private MetadataPeer(
      QuorumPeer peer, CallServerConfig served, FramePort port, @Nullable Tracer tracer) {
    this.peer = peer;
    this.tracer = tracer;
    this.calls = new CallServer(served, port, this::handle);
  }

  /**
   * Returns at once; the peer takes part when it reaches other peers.
   *
   * @param port the port of its address; the caller closes it, before this object
   * @param loops closed by the caller
   * @param tracer null: nothing is traced
   * @throws IOException when the folder cannot be used; the message gives the reason
   */
  public static MetadataPeer open(
      PeerConfig config, FramePort port, EventLoops loops, @Nullable Tracer tracer)
      throws IOException {
    SecureRandom random = new SecureRandom();
    return open(config, port, peer -> new CallClient(peer, config.calls(), loops, random), tracer);
  }

  /**
   * Likewise.
   *
   * @param others creates clients for other peers
   */
  static MetadataPeer open(
      PeerConfig config,
      FramePort port,
      Function<Endpoint, CallClient> others,
      @Nullable Tracer tracer)
      throws IOException {
    QuorumPeer peer = QuorumPeer.open(config, others);
    CallServerConfig served =
        new CallServerConfig(
            config.clusterId(), config.calls().secret(), CallServerConfig.Limits.DEFAULT);
    return new MetadataPeer(peer, served, port, tracer);
  }

  public QuorumPeer.Status status() {
    return peer.status();
  }

  /**
   * Takes a checkpoint now, so that the next start has no log to replay.
   *
   * @param wait the longest time to wait
   */
  public void checkpoint(Duration wait) {
    peer.checkpoint(wait);
  }

  /**
   * The bytes of a backup with every command answered before, if this peer leads.
   *
   * @param wait for its followers to confirm that
   * @throws NotLeaderException with the address of the leader, if it is known
   */
  public InputStream backup(UUID cluster, Instant now, Duration wait)
      throws MetadataUnavailableException, NotLeaderException, IOException {
    long deadlineNanos = System.nanoTime() + wait.toNanos();
    return MetadataBackup.of(peer.export(deadlineNanos), cluster, BackupHeader.Form.PROCESSES, now);
  }

  /** From now on this peer does not become leader; called before the end. */
  public void setEnding() {
    peer.setEnding();
  }

  /** Hands leadership over before the end, see {@link QuorumPeer#handOver}. */
  public void handOver() {
    peer.handOver();
  }

  @Override
  public void close() {
    calls.close();
    peer.close();
  }

  // ---- Calls of other processes ----

  /** Each call has a virtual thread; the number of calls per connection is limited. */
  private void handle(IncomingCall call) {
    switch (call.method()) {
      case SUBMIT, QUERY, WATCH, PEERS, CHANGE_PEERS ->
          Thread.ofVirtual().start(() -> call.answer(traced(call)));
      case STANDING, VOTE, APPEND, INSTALL, RELEASE, ELECT -> {
        if (call.caller() == Role.METADATA) {
          peer.serve(call);
        } else {
          call.answer(CallAnswer.because(Outcome.FAILED, "only for metadata peers"));
        }
      }
    }
  }

  private CallAnswer traced(IncomingCall call) {
    TraceContext caller = call.trace();
    if (tracer == null || caller == null) {
      return answer(call);
    }
    String name = "metadata " + call.method().name().toLowerCase(Locale.ROOT);
    Span span = tracer.begin(name, Tracer.Kind.SERVER, caller);
    CurrentSpan.set(span);
    try {
      CallAnswer answer = answer(call);
      if (answer.outcome() != Outcome.DONE) {
        span.failed(answer.outcome().name());
      }
      return answer;
    } finally {
      span.end();
    }
  }

  private CallAnswer answer(IncomingCall call) {
    try {
      return switch (call.method()) {
        case SUBMIT -> submit(call);
        case QUERY -> query(call);
        case WATCH -> watch(call);
        case PEERS -> CallAnswer.done(peer.peersStatus(call.deadlineNanos()).toByteArray());
        case CHANGE_PEERS -> changePeers(call);
        case STANDING, VOTE, APPEND, INSTALL, RELEASE, ELECT ->
            throw new IllegalArgumentException("of peers");
      };
    } catch (NotLeaderException e) {
      LeaderHint.Builder hint = LeaderHint.newBuilder();
      e.leader().ifPresent(leader -> hint.setAddress(leader.toString()));
      return new CallAnswer(Outcome.NOT_LEADER, hint.build().toByteArray());
    } catch (MetadataUnavailableException e) {
      return CallAnswer.because(outcome(e, call), String.valueOf(e.getMessage()));
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      INVALID.log("Invalid call " + call.method() + " from a " + call.caller() + ".", e);
      return CallAnswer.because(Outcome.FAILED, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CallAnswer.because(Outcome.UNKNOWN, "interrupted");
    } catch (RuntimeException e) {
      // The peer is closing or has failed: another one will lead soon.
      FAILED.log("Call " + call.method() + " failed.", e);
      return CallAnswer.because(Outcome.UNKNOWN, String.valueOf(e.getMessage()));
    }
  }

  /**
   * An expired call is refused, so that the caller tries another peer: this leader may have lost
   * its followers.
   */
  private static Outcome outcome(MetadataUnavailableException e, IncomingCall call) {
    if (!e.isRefused()) {
      return Outcome.UNKNOWN;
    }
    boolean isLate = System.nanoTime() - call.deadlineNanos() >= 0;
    return isLate ? Outcome.REFUSED : Outcome.OVERLOADED;
  }

  private CallAnswer submit(IncomingCall call)
      throws InvalidProtocolBufferException, MetadataUnavailableException, NotLeaderException {
    Command.Builder command = Command.newBuilder().mergeFrom(call.body());
    return CallAnswer.done(peer.submit(command, call.deadlineNanos()).toByteArray());
  }

  private CallAnswer query(IncomingCall call)
      throws InvalidProtocolBufferException, MetadataUnavailableException, NotLeaderException {
    MetadataQuery query = MetadataQuery.parseFrom(call.body());
    return CallAnswer.done(
        peer.read((reads, snapshot) -> reads.answer(snapshot, query), call.deadlineNanos())
            .toByteArray());
  }

  private CallAnswer changePeers(IncomingCall call)
      throws InvalidProtocolBufferException,
          MetadataUnavailableException,
          NotLeaderException,
          InterruptedException {
    PeersChange change = PeersChange.parseFrom(call.body());
    return CallAnswer.done(peer.change(change, call.deadlineNanos()).toByteArray());
  }

  /** Answers when the cluster is no longer as the caller knows it, or after some seconds. */
  private CallAnswer watch(IncomingCall call)
      throws InvalidProtocolBufferException,
          MetadataUnavailableException,
          NotLeaderException,
          InterruptedException {
    long known = ClusterWatch.parseFrom(call.body()).getVersion();
    long begin = System.nanoTime();
    long end = begin + Math.min(WATCH_NANOS_MAX, (call.deadlineNanos() - begin) / 2);
    while (true) {
      long changes = peer.clusterChanges().count();
      ClusterState state = feed.state(peer.memory(call.deadlineNanos()), peer.peers());
      if (state.getVersion() != known) {
        return CallAnswer.done(state.toByteArray());
      }
      long left = end - System.nanoTime();
      if (left <= 0) {
        return CallAnswer.done(ClusterState.newBuilder().setVersion(known).build().toByteArray());
      }
      peer.clusterChanges().await(changes, left);
    }
  }

  /**
   * The placement map, the drives and the metadata peers for watchers, with a version per state.
   */
  private static final class ClusterFeed {
    private final ReentrantLock lock = new ReentrantLock();

    /** Random at the start, so that a version of another process does not match. */
    private long version = new SecureRandom().nextLong() | 1;

    private long epoch;
    private Map<UUID, DriveId> drives = Map.of();
    private List<Endpoint> peers = List.of();
    private ClusterState state = ClusterState.newBuilder().setVersion(version).build();

    /** The present state, from the tables and the addresses of the peers. */
    ClusterState state(MetadataReads reads, List<Endpoint> peersNow) {
      lock.lock();
      try {
        long epochNow = reads.placement().map(PlacementMap::epoch).orElse(0L);
        Map<UUID, DriveId> drivesNow = reads.drives();
        if (epochNow != epoch || !drivesNow.equals(drives) || !peersNow.equals(peers)) {
          version += 2;
          epoch = epochNow;
          drives = drivesNow;
          peers = peersNow;
          state =
              reads
                  .cluster()
                  .setVersion(version)
                  .addAllMetadataPeers(peersNow.stream().map(Endpoint::toString).toList())
                  .build();
        }
        return state;
      } finally {
        lock.unlock();
      }
    }
  }
}
