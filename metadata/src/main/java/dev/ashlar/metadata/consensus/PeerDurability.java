package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.RaftStorageMetadataFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes durable what a peer is about to tell others, where Ratis does not: it renames the file with
 * the term and the vote without a sync of its directory, so that a power cut brings the ones before
 * back, and syncs nothing of a checkpoint that it has received.
 */
final class PeerDurability {
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

  /** Before this peer asks for votes, and before it answers who asks for its own. */
  void syncVote() throws IOException {
    lock.lock();
    try {
      if (failure != null) {
        throw new IOException("it could not make its vote durable", failure);
      }
      RaftStorageMetadata present = division.getRaftStorage().getMetadataFile().getMetadata();
      if (present.equals(durable)) {
        return;
      }
      await(() -> write(present));
      durable = present;
      durableTerm = present.getTerm();
    } catch (IOException e) {
      fail(e);
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private void write(RaftStorageMetadata present) throws IOException {
    Syncs.sync(division.getRaftStorage().getStorageDir().getCurrentDir().toPath());
    file.write(new Vote(present.getTerm(), present.getVotedFor().toString()).toBytes());
  }

  /**
   * Ratis goes by a term whose writing has failed once, as it does when the thread that asked for a
   * vote is interrupted, and does not write it again. Under its own lock, so that a vote in this
   * term is not overwritten.
   */
  private void persist(long term) throws IOException {
    synchronized (division) {
      RaftStorageMetadataFile ofRatis = division.getRaftStorage().getMetadataFile();
      if (ofRatis.getMetadata().getTerm() < term && division.getInfo().getCurrentTerm() == term) {
        RaftStorageMetadata none = RaftStorageMetadata.getDefault();
        ofRatis.persist(RaftStorageMetadata.valueOf(term, none.getVotedFor()));
      }
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

  /** Before this peer acknowledges anything in a term: it must not vote in an earlier one again. */
  void syncTerm(long term) throws IOException {
    if (term <= durableTerm) {
      return;
    }
    await(() -> persist(term));
    syncVote();
    if (term > durableTerm) {
      throw new IOException("term " + term + " is not durable, " + durableTerm + " is");
    }
  }

  /** Before this peer acknowledges a checkpoint: its files were synced where they came. */
  void syncInstalled() throws IOException {
    try {
      await(() -> Syncs.sync(division.getRaftStorage().getStorageDir().getRoot().toPath()));
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
      LOG.error("metadata: what a peer has promised cannot be made durable", e);
      failed.run();
    }
  }
}
