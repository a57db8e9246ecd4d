package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.SlotFile;
import dev.ashlar.metadata.consensus.log.Vote;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes durable what a peer is about to tell others, where Ratis does not: it renames the file with
 * the term and the vote without a sync of its directory, so that a power cut brings the ones before
 * back, and syncs nothing of a checkpoint that it has received.
 */
public final class PeerDurability {
  private static final Logger LOG = LoggerFactory.getLogger(PeerDurability.class);

  private final RaftServer.Division division;
  private final SlotFile file;
  private final Runnable failed;
  private final ReentrantLock lock = new ReentrantLock();
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
      // Both slots are damaged, as the log says: it is written anew with the first vote.
    }
  }

  /** Before this peer asks for votes: it votes for itself. */
  public void syncVote(RequestVoteRequestProto asked) throws IOException {
    syncVote(asked.getPreVote() ? 0 : asked.getCandidateTerm());
  }

  /** Before this peer answers who asks for its vote. */
  public void syncVote(RequestVoteRequestProto asked, RequestVoteReplyProto answer)
      throws IOException {
    boolean isVote = answer.getServerReply().getSuccess() && !asked.getPreVote();
    syncVote(isVote ? asked.getCandidateTerm() : 0);
  }

  /**
   * @param term of the vote that is to be told; 0: none is
   */
  private void syncVote(long term) throws IOException {
    lock.lock();
    try {
      requireSound();
      RaftStorageMetadata present = division.getRaftStorage().getMetadataFile().getMetadata();
      if (present.getTerm() < term) {
        throw new IOException("the vote in term " + term + " is not in raft-meta");
      }
      // Ratis may be about to write a term that has been noted here already.
      if (present.getTerm() >= durableTerm && !present.equals(durable)) {
        write(new Vote(present.getTerm(), present.getVotedFor().toString()), true);
        durable = present;
      }
    } finally {
      lock.unlock();
    }
  }

  private void requireSound() throws IOException {
    if (failure != null) {
      throw new IOException("a vote could not be made durable", failure);
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
   * Waits for it on a thread of its own. Ratis interrupts threads whose votes are not needed any
   * more, and an interrupt closes a file that is being written.
   */
  private static void await(Writing writing) throws IOException {
    FutureTask<Boolean> task =
        new FutureTask<>(
            () -> {
              writing.write();
              return true;
            });
    Thread.ofPlatform().daemon().name("metadata-vote").start(task);
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          var unused = task.get();
          return;
        } catch (InterruptedException e) {
          isInterrupted = true;
        } catch (ExecutionException e) {
          throw new IOException(e.getCause());
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Before this peer acknowledges anything in a term: it must not vote in an earlier one again.
   *
   * <p>Ratis goes by a new term before it has written it, and does not write it again when that
   * fails, as when its thread is interrupted. So a term that is not in its file is noted in ours
   * only, with no vote; the next start puts it into both. Its own file must have one writer: two
   * would take the temporary file from each other, and an election that fails so is not repeated.
   */
  public void syncTerm(long term) throws IOException {
    if (term <= durableTerm) {
      return;
    }
    lock.lock();
    try {
      syncVote(0);
      if (term > durableTerm) {
        write(new Vote(term, ""), false);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Before a checkpoint is received: what came of others, of which Ratis never deletes anything,
   * must not fill the drive. Under the lock under which Ratis receives and installs them.
   */
  public void beginInstall(InstallSnapshotRequestProto request) {
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
    if (!Files.isDirectory(received)) {
      return;
    }
    try (Stream<Path> files = Files.list(received)) {
      for (Path file : files.filter(file -> !file.endsWith(butNot)).toList()) {
        DurableFiles.deleteTree(file);
      }
    } catch (IOException e) {
      LOG.warn("Incompletely received checkpoints remain in {}.", received, e);
    }
  }

  /** Before this peer acknowledges a checkpoint: its files were synced where they came. */
  public void syncInstalled() throws IOException {
    try {
      await(() -> DurableFiles.sync(division.getRaftStorage().getStorageDir().getRoot().toPath()));
    } catch (IOException e) {
      lock.lock();
      try {
        fail(e);
      } finally {
        lock.unlock();
      }
      throw e;
    }
  }

  private void fail(IOException e) {
    if (failure == null) {
      failure = e;
      LOG.error("The metadata peer cannot make its vote or term durable.", e);
      failed.run();
    }
  }
}
