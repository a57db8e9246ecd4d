package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.SlotFile;
import dev.ashlar.metadata.consensus.log.Vote;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes durable what a peer is about to tell others, where Ratis does not. Ratis renames the file
 * with term and vote without syncing its directory, so that a power cut may bring back the previous
 * ones, and it does not sync received checkpoints. It acknowledges entries that it finds in memory,
 * even if writing them has failed or is not complete.
 */
public final class PeerDurability {
  private static final Logger LOG = LoggerFactory.getLogger(PeerDurability.class);

  /** Beyond this time the drive hangs, and the leader sends the entries again. */
  private static final Duration SYNC_MAX = Duration.ofSeconds(10);

  private static final Duration SYNC_CHECK = Duration.ofMillis(1);

  private final RaftServer.Division division;
  private final SlotFile file;
  private final Runnable failed;
  private volatile long durableTerm = -1;
  private @Nullable RaftStorageMetadata durable;
  private @Nullable IOException failure;

  /**
   * @param folder of the peer
   * @param failed called once when something cannot be made durable: the peer must stop
   */
  PeerDurability(Path folder, RaftServer.Division division, Runnable failed) {
    this.division = division;
    this.failed = failed;
    this.file = Vote.file(folder);
    try {
      file.read();
    } catch (IOException e) {
      // Both slots are damaged, which was logged: the first vote writes the file again.
    }
  }

  /** Called before this peer asks for votes, because it votes for itself. */
  public void syncVote(RequestVoteRequestProto asked) throws IOException {
    syncVote(asked.getPreVote() ? 0 : asked.getCandidateTerm());
  }

  /** Called before this peer answers a request for its vote. */
  public void syncVote(RequestVoteRequestProto asked, RequestVoteReplyProto answer)
      throws IOException {
    boolean isVote = answer.getServerReply().getSuccess() && !asked.getPreVote();
    syncVote(isVote ? asked.getCandidateTerm() : 0);
  }

  /**
   * @param term of the vote that is about to be given; 0: none
   */
  private synchronized void syncVote(long term) throws IOException {
    if (failure != null) {
      throw new IOException("a vote could not be made durable", failure);
    }
    RaftStorageMetadata present = division.getRaftStorage().getMetadataFile().getMetadata();
    if (present.getTerm() < term) {
      throw new IOException("the vote in term " + term + " is not in raft-meta");
    }
    // A later term may be recorded here that Ratis has not written yet.
    if (present.getTerm() >= durableTerm && !present.equals(durable)) {
      write(new Vote(present.getTerm(), present.getVotedFor().toString()), true);
      durable = present;
    }
  }

  private void write(Vote vote, boolean isOfRatis) throws IOException {
    try {
      await(
          () -> {
            if (isOfRatis) {
              DurableFiles.sync(division.getRaftStorage().getStorageDir().getCurrentDir().toPath());
            }
            file.write(vote.toBytes());
          });
      durableTerm = vote.term();
    } catch (IOException e) {
      fail(e);
      throw e;
    }
  }

  private interface Writing {
    void write() throws IOException;
  }

  /**
   * Runs the write on a separate thread and waits for it. Ratis interrupts threads whose votes are
   * no longer needed, and an interrupt would close the file that is being written.
   */
  private static void await(Writing writing) throws IOException {
    try {
      CompletableFuture.runAsync(
              () -> {
                try {
                  writing.write();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              },
              task -> Thread.ofPlatform().daemon().name("metadata-vote").start(task))
          .join(); // not interruptible
    } catch (CompletionException e) {
      throw new IOException(
          e.getCause() instanceof UncheckedIOException io ? io.getCause() : e.getCause());
    }
  }

  /**
   * Called before this peer acknowledges anything in a term, after which it must not vote in an
   * earlier one.
   *
   * <p>Ratis uses a new term before it has written it, and does not retry a failed write, for
   * example after an interrupt. So a term that is not in Ratis' file is recorded in ours only,
   * without a vote; the next start writes it to both. Ratis' file must have one writer: two would
   * take the temporary file from each other, and an election that fails because of this is not
   * repeated.
   */
  public void syncTerm(long term) throws IOException {
    if (term <= durableTerm) {
      return;
    }
    synchronized (this) {
      syncVote(0);
      if (term > durableTerm) {
        write(new Vote(term, ""), false);
      }
    }
  }

  /**
   * The answer to entries or a heartbeat once this peer's log is synced as far as the answer
   * acknowledges. Entries that are sent again, by the same or another leader, are in memory but
   * need not be in the log; a heartbeat acknowledges the entry before it.
   *
   * @return fails when the log is not synced in time, or not at all because the peer stops
   */
  public CompletableFuture<AppendEntriesReplyProto> synced(
      AppendEntriesRequestProto request, CompletableFuture<AppendEntriesReplyProto> reply) {
    return reply.thenCompose(
        answer -> {
          long last = acknowledged(request, answer);
          return isSynced(last)
              ? CompletableFuture.completedFuture(answer)
              : CompletableFuture.supplyAsync(
                  () -> {
                    awaitSynced(last);
                    return answer;
                  },
                  Thread::startVirtualThread);
        });
  }

  /** The last entry of the log that this answer acknowledges; negative: none. */
  private static long acknowledged(
      AppendEntriesRequestProto request, AppendEntriesReplyProto answer) {
    if (answer.getResult() != AppendResult.SUCCESS) {
      return -1;
    }
    int count = request.getEntriesCount();
    return count > 0
        ? request.getEntries(count - 1).getIndex()
        : request.hasPreviousLog() ? request.getPreviousLog().getIndex() : -1;
  }

  private boolean isSynced(long index) {
    RaftLog log = division.getRaftLog();
    return Math.max(log.getFlushIndex(), log.getSnapshotIndex()) >= index;
  }

  private void awaitSynced(long index) {
    long startNanos = System.nanoTime();
    while (!isSynced(index)) {
      if (!division.getInfo().isAlive() || System.nanoTime() - startNanos > SYNC_MAX.toNanos()) {
        throw new CompletionException(
            new IOException("log entry " + index + " is not synced on " + division.getId()));
      }
      try {
        Thread.sleep(SYNC_CHECK);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CompletionException(e);
      }
    }
  }

  /** Lets the server receive a part of a checkpoint; what it acknowledges is durable. */
  public InstallSnapshotReplyProto install(RaftServer server, InstallSnapshotRequestProto request)
      throws IOException {
    beginInstall(request);
    InstallSnapshotReplyProto reply = server.installSnapshot(request);
    syncTerm(request.getLeaderTerm());
    if (request.getSnapshotChunk().getDone()) {
      syncInstalled();
    }
    return reply;
  }

  /**
   * Called before a checkpoint is received: removes incompletely received ones, which Ratis never
   * deletes, so that they do not fill the drive. Under the lock under which Ratis receives and
   * installs them.
   */
  private void beginInstall(InstallSnapshotRequestProto request) {
    InstallSnapshotRequestProto.SnapshotChunkProto chunk = request.getSnapshotChunk();
    if (!request.hasSnapshotChunk() || chunk.getRequestIndex() != 0) {
      return;
    }
    synchronized (division) {
      if (request.getLeaderTerm() >= division.getInfo().getCurrentTerm()) {
        removeReceived("snapshot-" + chunk.getRequestId());
      }
    }
  }

  private void removeReceived(String butNot) {
    Path received = division.getRaftStorage().getStorageDir().getTmpDir().toPath();
    try {
      for (Path file : DurableFiles.listIfThere(received)) {
        if (!file.endsWith(butNot)) {
          DurableFiles.deleteTree(file);
        }
      }
    } catch (IOException e) {
      LOG.warn("Incompletely received checkpoints remain in {}.", received, e);
    }
  }

  /**
   * Called before this peer acknowledges a checkpoint, whose files were synced when they arrived.
   */
  private void syncInstalled() throws IOException {
    try {
      await(() -> DurableFiles.sync(division.getRaftStorage().getStorageDir().getRoot().toPath()));
    } catch (IOException e) {
      fail(e);
      throw e;
    }
  }

  private synchronized void fail(IOException e) {
    if (failure == null) {
      failure = e;
      LOG.error("The metadata peer cannot make its vote or term durable.", e);
      failed.run();
    }
  }
}
