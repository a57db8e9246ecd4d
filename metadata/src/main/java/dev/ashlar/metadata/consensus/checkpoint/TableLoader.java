package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.consensus.log.RaftFiles;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.RocksTable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the live tables of a peer from the first intact checkpoint. Damaged files are repaired
 * from the second copy before an older checkpoint is tried. The previous tables stay in use
 * meanwhile.
 */
public final class TableLoader {
  private static final Logger LOG = LoggerFactory.getLogger(TableLoader.class);

  private final List<Path> places;
  private final RocksResources resources;
  private final Checkpoints checkpoints;
  private final SecondCopy copies;
  private final int knows;

  /**
   * @param folder of the peer
   */
  public TableLoader(Path folder, RocksResources resources, Checkpoints checkpoints, int knows) {
    this.places = List.of(folder.resolve("live"), folder.resolve("live-other"));
    this.resources = resources;
    this.checkpoints = checkpoints;
    this.copies = new SecondCopy(checkpoints);
    this.knows = knows;
  }

  /** The tables and the state machine on them, which are replaced together. */
  public record Live(Path directory, RocksTable table, MetadataState state) {}

  /** Completes tables before they are used. */
  @FunctionalInterface
  public interface Finish {
    /**
     * @param from the checkpoint; empty: the tables are empty
     * @throws DamagedTablesException when the tables turn out damaged
     * @throws InterruptedIOException when the rebuild has to be postponed
     */
    void accept(Live live, Optional<Checkpoint> from) throws IOException, InterruptedException;
  }

  /** Loads the tables at a start, with quick checks only: other damage is found later. */
  Live load() throws IOException, InterruptedException {
    for (Path place : places) {
      DurableFiles.deleteTree(place);
    }
    return load(false, places.getFirst(), (live, from) -> {});
  }

  /**
   * Loads tables that replace damaged ones, with every byte verified first.
   *
   * @param finish applies the log since the checkpoint
   */
  Live loadBeside(Live damaged, Finish finish) throws IOException, InterruptedException {
    boolean isFirst = damaged.directory().equals(places.getFirst());
    return load(true, isFirst ? places.getLast() : places.getFirst(), finish);
  }

  /** Removes the closed tables that {@link #loadBeside} replaced. */
  static void remove(Live closed) throws IOException {
    DurableFiles.deleteTree(closed.directory());
  }

  private Live load(boolean isVerified, Path place, Finish finish)
      throws IOException, InterruptedException {
    checkpoints.files().lockInterruptibly();
    try {
      checkpoints.clean();
      checkpoints.reload();
      List<String> failures = new ArrayList<>();
      boolean isAllDamage = true;
      for (Optional<Checkpoint> source : checkpoints.sources()) {
        for (boolean verify : isVerified ? List.of(true) : List.of(false, true)) {
          try {
            return loaded(source, verify, place, finish);
          } catch (InterruptedIOException e) {
            throw e;
          } catch (IOException | DamagedTablesException e) {
            LOG.error("Metadata in {} cannot be loaded from {}.", place, name(source), e);
            failures.add(name(source) + ": " + e.getMessage());
            isAllDamage &= DamageCheck.isCauseOf(e);
          }
        }
      }
      String why =
          "metadata cannot be rebuilt from this folder, because no checkpoint is intact "
              + "and followed by the log: "
              + failures;
      throw isAllDamage ? new TablesLostException(why) : new IOException(why);
    } finally {
      checkpoints.files().unlock();
    }
  }

  private static String name(Optional<Checkpoint> source) {
    return source.map(checkpoint -> checkpoint.path().toString()).orElse("the log from its start");
  }

  private Live loaded(Optional<Checkpoint> source, boolean verify, Path place, Finish finish)
      throws IOException, InterruptedException {
    requireLogUpToLatest(source);
    if (source.isPresent()) {
      check(source.get(), verify);
      Checkpoints.restore(source.get().path(), place);
    } else {
      Checkpoints.makeEmpty(place);
    }
    RocksTable table = new RocksTable(place, resources);
    try {
      Live live = new Live(place, table, new MetadataState(table, knows));
      finish.accept(live, source);
      checkpoints.setAsideBehind(source);
      return live;
    } catch (IOException | InterruptedException | RuntimeException e) {
      table.close();
      throw e;
    }
  }

  /**
   * The content of the latest checkpoint was acknowledged: without it, the log must reach as far.
   */
  private void requireLogUpToLatest(Optional<Checkpoint> source) throws IOException {
    Optional<Checkpoint> latest = checkpoints.latest();
    if (latest.isEmpty() || latest.equals(source)) {
      return;
    }
    long last = RaftFiles.lastOfLog(checkpoints.logDirectory());
    if (last < latest.get().position().getIndex()) {
      throw new DamagedFileException(
          String.format("its log ends at entry %d, before %s", last, latest.get().path()));
    }
  }

  private void check(Checkpoint checkpoint, boolean verify)
      throws IOException, InterruptedException {
    if (verify && checkpoints.isCopied(checkpoint)) {
      List<Path> unused = copies.verify(checkpoint, IoPacer.unlimited());
    } else if (verify) {
      for (Path file : Checkpoints.content(checkpoint.path())) {
        if (FileSums.isTable(file.toString())) {
          RocksTable.verify(file);
        }
      }
    } else if (FileSums.isThere(checkpoint.path())) {
      FileSums.read(checkpoint.path()).checkQuickly(checkpoint.path());
    }
  }
}
