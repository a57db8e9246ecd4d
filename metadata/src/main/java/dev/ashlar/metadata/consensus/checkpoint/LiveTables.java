package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.consensus.log.RaftFiles;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.RocksTable;
import dev.ashlar.metadata.table.RocksTable.TablesClosedException;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.ratis.protocol.exceptions.ChecksumException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of a peer that are in use. Damaged tables still answer reads of their intact parts
 * until they are rebuilt. One thread at a time may replace them.
 *
 * <p>They are built from the first intact checkpoint. Damaged files are repaired from the second
 * copy before an older checkpoint is tried. The previous tables stay in use meanwhile.
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
  private final List<Path> places;
  private final RocksResources resources;
  private final Checkpoints checkpoints;
  private final SecondCopy copies;
  private final int knows;
  private final Runnable onDamage;
  private volatile @Nullable Live live;
  private volatile String damage = "";
  private volatile @Nullable FailedRebuild failedRebuild;
  private final Path exported;
  private final Object exporting = new Object();
  private @Nullable TableExport export;

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

  /** Tables are damaged, and everything they could be rebuilt from is damaged or missing. */
  static final class TablesLostException extends IOException {
    private static final long serialVersionUID = 1;

    private TablesLostException(String message) {
      super(message);
    }
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

  /**
   * @param folder of the peer
   * @param knows the latest metadata version that it may apply
   * @param onDamage called by the thread that finds damage
   */
  public LiveTables(
      Path folder,
      RocksResources resources,
      Checkpoints checkpoints,
      int knows,
      Runnable onDamage) {
    this.folder = folder;
    this.places = List.of(folder.resolve("live"), folder.resolve("live-other"));
    this.exported = folder.resolve("export");
    this.resources = resources;
    this.checkpoints = checkpoints;
    this.copies = new SecondCopy(checkpoints);
    this.knows = knows;
    this.onDamage = onDamage;
  }

  /**
   * Replaces the tables by those of the latest intact checkpoint, at a start: with quick checks
   * only, because other damage is found later.
   */
  public Live load() throws IOException, InterruptedException {
    close();
    for (Path place : places) {
      DurableFiles.deleteTree(place);
    }
    endExport();
    Live loaded = build(false, places.getFirst(), (next, from) -> {});
    live = loaded;
    setWhole();
    return loaded;
  }

  /**
   * Replaces damaged tables by tables rebuilt from a checkpoint, with every byte verified first.
   *
   * @param finish applies the log since the checkpoint
   * @return false when the tables are not damaged
   * @throws TablesLostException when nothing in the folder can restore them
   */
  public boolean rebuildIfDamaged(Finish finish) throws IOException, InterruptedException {
    Live damaged = live;
    if (!isDamaged() || damaged == null) {
      return false;
    }
    boolean isFirst = damaged.directory().equals(places.getFirst());
    try {
      replace(damaged, build(true, isFirst ? places.getLast() : places.getFirst(), finish));
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      setFailed(e);
      throw e;
    }
    damaged.table().close();
    DurableFiles.deleteTree(damaged.directory());
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
   * @throws IllegalStateException when the tables are closed
   */
  public Live get() {
    try {
      return readable();
    } catch (MetadataUnavailableException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private Live readable() throws MetadataUnavailableException {
    Live present = live;
    if (present == null) {
      throw MetadataUnavailableException.refused(
          "the metadata tables in " + folder + " are closed");
    }
    return present;
  }

  /** The cached small tables; refused when the peer has stopped. */
  public MetadataReads memory() throws MetadataUnavailableException {
    return readable().state().reads();
  }

  /** The present files of the tables. */
  List<Path> files() {
    Live present = get();
    return present.table().tableFiles().stream().map(present.directory()::resolve).toList();
  }

  /**
   * Answers a query from one snapshot of the applied state; refused when the peer has stopped, or
   * the required part is damaged and being rebuilt.
   */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) throws MetadataUnavailableException {
    try {
      return read(readable(), query);
    } catch (TablesClosedException e) {
      return read(readable(), query); // replaced meanwhile
    }
  }

  private <T> T read(Live present, BiFunction<MetadataReads, Table, T> query)
      throws MetadataUnavailableException {
    try {
      MetadataReads reads = present.state().reads();
      return present.table().read(snapshot -> query.apply(reads, snapshot));
    } catch (DamagedTablesException e) {
      if (present.equals(live)) {
        setDamaged(String.valueOf(e.getMessage()));
      }
      throw MetadataUnavailableException.refused(
          "metadata tables are being rebuilt: " + e.getMessage());
    }
  }

  /**
   * The applied rows, as they are now; one export at a time.
   *
   * @throws MetadataUnavailableException when another one is under way, or the tables cannot be
   *     read
   */
  public TableExport export() throws MetadataUnavailableException {
    Live present = readable();
    synchronized (exporting) {
      if (export != null && !export.isOver()) {
        throw MetadataUnavailableException.refused("another backup is under way");
      }
      try {
        endExport();
        present.table().export(exported);
        TableExport begun = new TableExport(exported);
        export = begun;
        return begun;
      } catch (IOException | RuntimeException e) {
        throw MetadataUnavailableException.refused(
            "the metadata tables in " + folder + " cannot be exported: " + e.getMessage());
      }
    }
  }

  /** Removes an export that nobody reads any more. */
  void endAbandonedExport() throws IOException {
    synchronized (exporting) {
      if (export != null && export.isOver()) {
        endExport();
      }
    }
  }

  private void endExport() throws IOException {
    synchronized (exporting) {
      TableExport before = export;
      export = null;
      if (before != null) {
        before.close();
      }
      DurableFiles.deleteTree(exported);
    }
  }

  // ---- Building them ----

  private Live build(boolean isVerified, Path place, Finish finish)
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
            return built(source, verify, place, finish);
          } catch (InterruptedIOException e) {
            throw e;
          } catch (IOException | DamagedTablesException e) {
            LOG.error("Metadata in {} cannot be loaded from {}.", place, name(source), e);
            failures.add(name(source) + ": " + e.getMessage());
            isAllDamage &= isDamage(e);
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

  private Live built(Optional<Checkpoint> source, boolean verify, Path place, Finish finish)
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
      Live built = new Live(place, table, new MetadataState(table, knows));
      finish.accept(built, source);
      checkpoints.setAsideBehind(source);
      return built;
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

  /**
   * Whether the failure was caused by wrong bytes or a missing file; others, such as a full drive
   * or too many open files, may be temporary.
   */
  private static boolean isDamage(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      boolean isIt =
          switch (cause) {
            case DamagedFileException e -> true;
            case NoSuchFileException e -> true;
            case ChecksumException e -> true;
            case DamagedTablesException e -> e.isCertain();
            default -> false;
          };
      if (isIt) {
        return true;
      }
    }
    return false;
  }
}
