package dev.ashlar.metadata.server;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.consensus.NotLeaderException;
import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.ClusterWatch;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.LeaderHint;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PeersChange;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallHandler;
import dev.ashlar.transport.call.IncomingCall;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers metadata calls of other processes, if its peer is the leader. Each call has a virtual
 * thread; the number of calls per connection is limited.
 */
final class MetadataService implements CallHandler {
  private static final Logger LOG = LoggerFactory.getLogger(MetadataService.class);
  private static final long WATCH_NANOS_MAX = Duration.ofSeconds(5).toNanos();

  private final QuorumPeer peer;
  private final ClusterFeed feed = new ClusterFeed();

  MetadataService(QuorumPeer peer) {
    this.peer = peer;
  }

  @Override
  public void handle(IncomingCall call) {
    switch (call.method()) {
      case SUBMIT, QUERY, WATCH, PEERS, CHANGE_PEERS ->
          Thread.ofVirtual().start(() -> call.answer(answer(call)));
      case STANDING, VOTE, APPEND, INSTALL -> {
        if (call.caller() == Role.METADATA) {
          peer.serve(call);
        } else {
          call.answer(CallAnswer.because(Outcome.FAILED, "only for metadata peers"));
        }
      }
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
        case STANDING, VOTE, APPEND, INSTALL -> throw new IllegalArgumentException("of peers");
      };
    } catch (NotLeaderException e) {
      LeaderHint.Builder hint = LeaderHint.newBuilder();
      e.leader().ifPresent(leader -> hint.setAddress(leader.toString()));
      return new CallAnswer(Outcome.NOT_LEADER, hint.build().toByteArray());
    } catch (MetadataUnavailableException e) {
      return CallAnswer.because(outcome(e, call), String.valueOf(e.getMessage()));
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      LOG.warn("Invalid call {} from a {}.", call.method(), call.caller(), e);
      return CallAnswer.because(Outcome.FAILED, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CallAnswer.because(Outcome.UNKNOWN, "interrupted");
    } catch (RuntimeException e) {
      // The peer is closing or has failed: another one will lead soon.
      LOG.warn("Call {} failed.", call.method(), e);
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
        peer.read((reads, snapshot) -> Queries.answer(reads, snapshot, query), call.deadlineNanos())
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
      long changes = peer.clusterChanges();
      ClusterState state = feed.state(peer.memory(call.deadlineNanos()), peer.peers());
      if (state.getVersion() != known) {
        return CallAnswer.done(state.toByteArray());
      }
      long left = end - System.nanoTime();
      if (left <= 0) {
        return CallAnswer.done(ClusterState.newBuilder().setVersion(known).build().toByteArray());
      }
      peer.awaitClusterChange(changes, left);
    }
  }
}
