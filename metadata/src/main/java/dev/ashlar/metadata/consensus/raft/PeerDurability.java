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
 * Makes durable what a peer is about to tell others, where Ratis does not. Ratis renames the file
 * with term and vote without syncing its directory, so that a power cut may bring back the previous
 * ones, and it does not sync received checkpoints.
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
  private void syncVote(long term) throws IOException {
    lock.lock();
    try {
      requireSound();
      RaftStorageMetadata present = division.getRaftStorage().getMetadataFile().getMetadata();
      if (present.getTerm() < term) {
        throw new IOException("the vote in term " + term + " is not in raft-meta");
      }
      // A later term may be recorded here that Ratis has not written yet.
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
   * Runs the write on a separate thread and waits for it. Ratis interrupts threads whose votes are
   * no longer needed, and an interrupt would close the file that is being written.
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
   * Called before a checkpoint is received: removes incompletely received ones, which Ratis never
   * deletes, so that they do not fill the drive. Under the lock under which Ratis receives and
   * installs them.
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

  /**
   * Called before this peer acknowledges a checkpoint, whose files were synced when they arrived.
   */
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
