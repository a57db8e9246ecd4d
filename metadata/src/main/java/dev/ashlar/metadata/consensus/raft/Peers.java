package dev.ashlar.metadata.consensus.raft;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is done with all Raft peers of a process. */
public final class Peers {
  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

  private Peers() {}

  /**
   * Takes a checkpoint of each running peer and purges the log before it. A failure, or one that
   * takes longer than {@code wait}, only makes the next start slower.
   */
  public static void checkpointAll(List<Peer> peers, Duration wait) throws InterruptedException {
    CompletableFuture<?>[] replies =
        peers.stream()
            .filter(Peer::isAlive)
            .map(Peer::checkpoint)
            .toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(replies).get(wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn(
          "Not every metadata folder has a new checkpoint; the next start replays the log: {}",
          e.toString());
    }
  }

  /**
   * Closes all peers in parallel, because each takes up to a second. A peer that hangs is
   * abandoned: Ratis 3.3 never returns if its log is closed while entries are about to be evicted
   * from the cache. Everything acknowledged is synced by then.
   */
  public static void closeAll(List<Peer> peers) {
    List<Thread> closers =
        peers.stream()
            .map(peer -> Thread.ofPlatform().daemon().start(() -> closeLogged(peer)))
            .toList();
    long end = System.nanoTime() + CLOSE_MAX.toNanos();
    for (Thread closer : closers) {
      try {
        if (!closer.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())))) {
          LOG.warn("A metadata peer did not close within {}.", CLOSE_MAX);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static void closeLogged(Peer peer) {
    try {
      peer.close();
    } catch (IOException e) {
      LOG.warn("Closing metadata peer {} failed.", peer.id(), e);
    }
  }
}
