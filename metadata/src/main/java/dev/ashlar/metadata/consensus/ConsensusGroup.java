package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All peers of the metadata group, which live in this process, one folder each. */
public final class ConsensusGroup implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ConsensusGroup.class);
  private static final long RETRY_MS = 10;

  private final List<Peer> peers;
  private final CommitQueue queue;
  private final ReadSource reads;
  private final ScheduledExecutorService retries =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("metadata-retry").factory());
  private volatile Peer leader;
  private volatile boolean closed;

  private ConsensusGroup(List<Peer> peers, Clock clock, Duration timeout) {
    this.peers = peers;
    this.leader = peers.getFirst();
    this.queue = new CommitQueue(clock, timeout, this::propose);
    this.reads = new ReadSource(peers.stream().map(Peer::machine).toList());
  }

  /**
   * @param folders one per peer, in an order that never changes; the first is preferred as leader
   * @param timeout how long a command may wait
   */
  public record Config(
      UUID clusterId,
      List<Path> folders,
      RocksResources resources,
      CheckpointLimits checkpoints,
      Clock clock,
      Duration timeout) {}

  public static ConsensusGroup open(Config config) throws IOException {
    List<RaftPeer> members = new ArrayList<>();
    for (int i = 0; i < config.folders().size(); i++) {
      members.add(
          RaftPeer.newBuilder()
              .setId("m" + (i + 1))
              .setAddress("in-process:" + (i + 1))
              .setPriority(i == 0 ? 1 : 0)
              .build());
    }
    RaftGroup group = RaftGroup.valueOf(RaftGroupId.valueOf(config.clusterId()), members);
    LocalNetwork network = new LocalNetwork();
    List<Peer> peers = new ArrayList<>();
    try {
      for (int i = 0; i < members.size(); i++) {
        RaftPeerId id = members.get(i).getId();
        Path folder = config.folders().get(i);
        peers.add(
            new Peer(group, id, i == 0, folder, network, config.resources(), config.checkpoints()));
      }
      for (Peer peer : peers.reversed()) {
        peer.start();
      }
    } catch (IOException | RuntimeException e) {
      closeAll(peers);
      throw e;
    }
    return new ConsensusGroup(List.copyOf(peers), config.clock(), config.timeout());
  }

  /** Commits a command; the calling thread waits. */
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    return queue.submit(command);
  }

  /** All commands that follow belong to this session. */
  public void setSession(long session) {
    queue.setSession(session);
  }

  private void propose(Proposal proposal) {
    Peer target = leader;
    if (!target.isLeader()) {
      target = findLeader();
    }
    try {
      var unused =
          target
              .propose(proposal)
              .whenComplete(
                  (reply, failure) -> {
                    if (failure != null || !reply.isSuccess()) {
                      retry(proposal, failure != null ? failure : reply.getException());
                    }
                  });
    } catch (IOException | RuntimeException e) {
      retry(proposal, e);
    }
  }

  private Peer findLeader() {
    leader = peers.stream().filter(Peer::isLeader).findFirst().orElse(leader);
    return leader;
  }

  /** The same requests again: apply recognises those that did reach the log. */
  private void retry(Proposal proposal, Throwable reason) {
    log.debug("proposal not accepted: {}", reason.toString());
    if (!closed && proposal.isWanted()) {
      var unused = retries.schedule(() -> propose(proposal), RETRY_MS, TimeUnit.MILLISECONDS);
    }
  }

  /** Answers a query from one snapshot that holds every command answered before. */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) throws MetadataUnavailableException {
    return reads.current().read(query);
  }

  /** The small tables in memory, likewise. */
  public MetadataReads memory() throws MetadataUnavailableException {
    return reads.current().memory();
  }

  /** Takes a checkpoint of every peer and lets go of the log before it. */
  public void checkpoint() {
    List<CompletableFuture<RaftClientReply>> replies =
        peers.stream().map(Peer::checkpoint).toList();
    replies.forEach(CompletableFuture::join);
  }

  @Override
  public void close() {
    closed = true;
    queue.close();
    retries.shutdownNow();
    closeAll(peers);
  }

  private static void closeAll(List<Peer> peers) {
    for (Peer peer : peers.stream().sorted(Comparator.comparing(Peer::isLeader)).toList()) {
      try {
        peer.close();
      } catch (IOException e) {
        log.warn("closing metadata peer {}", peer.id(), e);
      }
    }
  }
}
