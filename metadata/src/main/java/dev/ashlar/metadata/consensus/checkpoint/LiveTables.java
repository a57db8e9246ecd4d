package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.TableLoader.Live;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.metadata.table.TablesClosedException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of a peer that are in use. Damaged tables still answer reads of their intact parts
 * until they are rebuilt. One thread at a time may replace them.
 */
public final class LiveTables {
  private static final Logger LOG = LoggerFactory.getLogger(LiveTables.class);

  /** Long enough for two attempts to rebuild, each with every byte verified. */
  private static final long LOST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(4);

  /**
   * Failures for other reasons than damage, such as a lack of memory or open files, may be
   * temporary.
   */
  private static final long FAILS_AFTER_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Path folder;
  private final TableLoader loader;
  private final Runnable onDamage;
  private volatile @Nullable Live live;
  private volatile String damage = "";
  private volatile @Nullable FailedRebuild failedRebuild;

  /**
   * The failure of the latest attempt to rebuild damaged tables.
   *
   * @param isLost whether everything they could be rebuilt from is damaged or missing
   * @param firstNanos time of the first failure
   * @param lastNanos time of the latest failure
   */
  public record FailedRebuild(String why, boolean isLost, long firstNanos, long lastNanos) {
    /** Whether the failure has lasted so long that another peer should lead. */
    public boolean isLasting() {
      return lastNanos - firstNanos >= (isLost ? LOST_AFTER_NANOS : FAILS_AFTER_NANOS);
    }

    boolean isFirst() {
      return firstNanos == lastNanos;
    }
  }

  /**
   * @param folder of the peer
   * @param onDamage called by the thread that finds damage
   */
  public LiveTables(Path folder, TableLoader loader, Runnable onDamage) {
    this.folder = folder;
    this.loader = loader;
    this.onDamage = onDamage;
  }

  /** Replaces the tables by those of the latest intact checkpoint. */
  public Live load() throws IOException, InterruptedException {
    close();
    Live loaded = loader.load();
    live = loaded;
    setWhole();
    return loaded;
  }

  /**
   * Replaces damaged tables by tables rebuilt from a checkpoint.
   *
   * @param finish applies the log since the checkpoint
   * @return false when the tables are not damaged
   * @throws TablesLostException when nothing in the folder can restore them
   */
  public boolean rebuildIfDamaged(TableLoader.Finish finish)
      throws IOException, InterruptedException {
    Live damaged = live;
    if (!isDamaged() || damaged == null) {
      return false;
    }
    try {
      replace(damaged, loader.loadBeside(damaged, finish));
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      setFailed(e);
      throw e;
    }
    damaged.table().close();
    TableLoader.remove(damaged);
    return true;
  }

  private void setFailed(IOException why) {
    FailedRebuild before = failedRebuild;
    long now = System.nanoTime();
    failedRebuild =
        new FailedRebuild(
            String.valueOf(why.getMessage()),
            why instanceof TablesLostException,
            before == null ? now : before.firstNanos(),
            now);
  }

  private synchronized void replace(Live damaged, Live rebuilt) throws IOException {
    if (!damaged.equals(live)) {
      rebuilt.table().close();
      throw new IOException("the metadata tables were closed while they were rebuilt");
    }
    live = rebuilt;
    setWhole();
  }

  private void setWhole() {
    damage = "";
    failedRebuild = null;
  }

  public synchronized void close() {
    Live present = live;
    live = null;
    if (present != null) {
      present.table().close();
    }
  }

  public void setDamaged(String why) {
    if (damage.isEmpty() && live != null) {
      LOG.error("Metadata tables in {} are damaged and will be rebuilt: {}", folder, why);
      damage = why;
      onDamage.run();
    }
  }

  public boolean isDamaged() {
    return !damage.isEmpty();
  }

  /** A description of damage that is not repaired yet; empty: none. */
  public String damage() {
    return damage;
  }

  /** The failure of the latest attempt to rebuild; empty: none. */
  public Optional<FailedRebuild> failedRebuild() {
    return Optional.ofNullable(failedRebuild);
  }

  public boolean isOpen() {
    return live != null;
  }

  /** Whether the tables are open and not known to be damaged. */
  public boolean isWhole() {
    return live != null && !isDamaged();
  }

  /**
   * @throws UnreadableTablesException when the tables are closed
   */
  public Live get() {
    Live present = live;
    if (present == null) {
      throw new UnreadableTablesException("the metadata tables in " + folder + " are closed");
    }
    return present;
  }

  /** The present files of the tables. */
  List<Path> files() {
    Live present = get();
    return present.table().tableFiles().stream().map(present.directory()::resolve).toList();
  }

  /**
   * Answers a query from one snapshot of the applied state.
   *
   * @throws UnreadableTablesException when the required part cannot be read
   */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) {
    Live present = get();
    try {
      return read(present, query);
    } catch (TablesClosedException e) {
      return read(get(), query); // replaced meanwhile
    }
  }

  private <T> T read(Live present, BiFunction<MetadataReads, Table, T> query) {
    try {
      MetadataReads reads = present.state().reads();
      return present.table().read(snapshot -> query.apply(reads, snapshot));
    } catch (DamagedTablesException e) {
      if (present.equals(live)) {
        setDamaged(String.valueOf(e.getMessage()));
      }
      throw new UnreadableTablesException("metadata tables are being rebuilt: " + e.getMessage());
    }
  }
}
