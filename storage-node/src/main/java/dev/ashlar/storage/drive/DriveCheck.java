package dev.ashlar.storage.drive;

import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.IndexDirectory;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.IndexFloor;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.scrub.SegmentVerifier;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.ShadowFiles;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Checks a drive that no process uses, and changes nothing on it: it is opened as at a start, on
 * files whose writes stay in memory and on a copy of the index, and read as by the scrub.
 */
public final class DriveCheck {
  private static final String INDEX = "index";
  private static final String CURRENT = "CURRENT";
  private static final String TABLE = ".sst";
  private static final int FINDINGS_MAX = 10_000;

  private final Path folder;
  private final Path scratch;
  private final DriveConfig.Limits limits;
  private final ShadowFiles files;
  private final Findings findings = new Findings();
  private long segments;
  private long verifiedBytes;

  /** What is damaged. */
  public enum Part {
    IDENTITY,
    INDEX,
    LOG,
    /** Bytes of a shard. */
    SHARD
  }

  /**
   * A damaged place.
   *
   * @param file in the folder
   * @param blob id of the blob; empty unless a shard is damaged
   * @param slot of the shard; -1 unless a shard is damaged
   * @param offset in the shard; -1 unless a shard is damaged
   * @param length in bytes; -1 unless a shard is damaged
   */
  public record Finding(
      Part part, String file, String blob, int slot, long offset, long length, String what) {
    static Finding of(Part part, String file, String what) {
      return new Finding(part, file, "", -1, -1, -1, what);
    }

    /** Whether the other one is of the bytes behind this. */
    private boolean isBefore(Finding other) {
      return part == Part.SHARD && equals(other.at(offset, length)) && end() == other.offset;
    }

    private long end() {
      return offset + length;
    }

    private Finding at(long newOffset, long newLength) {
      return new Finding(part, file, blob, slot, newOffset, newLength, what);
    }
  }

  /** The first ones, and how many more there are: all of a drive may be damaged. */
  private static final class Findings {
    private final List<Finding> kept = new ArrayList<>();
    private long more;

    void add(Finding finding) {
      if (!kept.isEmpty() && kept.getLast().isBefore(finding)) {
        Finding before = kept.removeLast();
        kept.add(before.at(before.offset(), before.length() + finding.length()));
      } else if (kept.size() < FINDINGS_MAX) {
        kept.add(finding);
      } else {
        more++;
      }
    }
  }

  /**
   * The result of a check.
   *
   * @param verifiedBytes of shards that were read
   * @param findings the first 10,000; adjacent bytes of a shard are one
   * @param moreFindings how many are left out
   */
  public record Report(
      UUID cluster,
      UUID drive,
      long incarnation,
      long segments,
      long verifiedBytes,
      List<Finding> findings,
      long moreFindings) {
    public Report {
      findings = List.copyOf(findings);
    }
  }

  private DriveCheck(Path folder, Path scratch, DriveConfig.Limits limits) {
    this.folder = folder;
    this.scratch = scratch;
    this.limits = limits;
    this.files = new ShadowFiles(folder);
  }

  /** Whether the folder itself holds a drive. */
  public static boolean isDrive(Path folder) {
    return Files.exists(folder.resolve(DriveIdentity.FILE));
  }

  /**
   * @param scratch empty directory for a copy of the index, which may have to be rebuilt there
   * @throws IOException when the folder is in use, or holds no drive that this build knows
   */
  public static Report run(Path folder, Path scratch) throws IOException {
    return run(folder, scratch, DriveConfig.Limits.DEFAULT);
  }

  static Report run(Path folder, Path scratch, DriveConfig.Limits limits) throws IOException {
    if (!isDrive(folder)) {
      throw new IOException(folder + " holds no drive: it has no file " + DriveIdentity.FILE);
    }
    FileChannel lock = DriveDirectory.lockToRead(folder);
    try (DriveResources resources = resources()) {
      return new DriveCheck(folder, scratch, limits).check(resources);
    } finally {
      if (lock != null) {
        lock.close();
      }
    }
  }

  private static DriveResources resources() {
    return new DriveResources(
        new SlabPool(0),
        new SimpleMeterRegistry(),
        Clock.systemUTC(),
        profile -> {
          throw new IllegalStateException("nothing is changed");
        },
        DriveResources.Budget.DEFAULT);
  }

  private Report check(DriveResources resources) throws IOException {
    DriveIdentity identity = DriveIdentity.read(files);
    if (files.isChanged(DriveIdentity.FILE)) {
      findings.add(
          Finding.of(Part.IDENTITY, DriveIdentity.FILE, "one of its two copies is damaged"));
    }
    if (identity.changesLost()) {
      findings.add(Finding.of(Part.LOG, DriveIdentity.FILE, "damage of the log was found before"));
    }
    try (RocksShardIndex index = openIndex(identity, resources)) {
      checkLog(identity, index, resources);
    }
    return new Report(
        identity.cluster(),
        identity.drive().id(),
        identity.drive().incarnation(),
        segments,
        verifiedBytes,
        findings.kept,
        findings.more);
  }

  // ---- The index ----

  private RocksShardIndex openIndex(DriveIdentity identity, DriveResources resources)
      throws IOException {
    IndexFloor floor = new IndexFloor(files, identity.drive().id());
    try {
      requireIndex();
      copyIndex();
      RocksShardIndex index = new RocksShardIndex(scratch, resources.index(), failure -> {});
      try {
        floor.check(index);
        boolean unused = index.verify(ReadThrottle.NONE);
        return index;
      } catch (IOException | RuntimeException e) {
        index.close();
        throw e;
      }
    } catch (IndexException e) {
      if (!e.kind().isOfContent()) {
        throw e;
      }
      findings.add(Finding.of(Part.INDEX, INDEX, String.valueOf(e.getMessage())));
    }
    IndexDirectory.discard(scratch);
    floor.clear();
    return new RocksShardIndex(scratch, resources.index(), failure -> {});
  }

  /** Without this file, an empty index would be made. */
  private void requireIndex() throws IOException {
    if (!Files.exists(folder.resolve(INDEX).resolve(CURRENT))
        && files.list().stream().anyMatch(Segment::isSegment)) {
      throw new IndexException(
          IndexException.Kind.DAMAGED, "index: its file " + CURRENT + " is missing", null);
    }
  }

  /** Tables never change, so they are linked; the index there deletes links only. */
  private void copyIndex() throws IOException {
    Path index = folder.resolve(INDEX);
    if (!Files.isDirectory(index)) {
      return;
    }
    try (Stream<Path> entries = Files.list(index)) {
      for (Path file : entries.filter(Files::isRegularFile).toList()) {
        Path target = scratch.resolve(file.getFileName().toString());
        if (file.toString().endsWith(TABLE)) {
          Files.createSymbolicLink(target, file.toAbsolutePath());
        } else {
          Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  // ---- The log ----

  private void checkLog(DriveIdentity identity, RocksShardIndex index, DriveResources resources)
      throws IOException {
    DriveCore.OpenContext context =
        new DriveCore.OpenContext(
            identity.cluster(),
            identity.drive().id(),
            identity.drive().incarnation() + 1,
            () -> 1,
            what -> findings.add(Finding.of(Part.LOG, "", what)));
    DriveMetrics meters =
        new DriveMetrics(new SimpleMeterRegistry(), identity.drive().id().toString());
    DriveCore.Parts parts =
        new DriveCore.Parts(index, resources.slabs(), resources.recent(), meters);
    DriveCore core = new DriveCore(files, limits, context, parts);
    try {
      for (Segment segment : List.copyOf(core.segments().all())) {
        checkSegment(core, segment);
      }
    } finally {
      core.close();
    }
  }

  private void checkSegment(DriveCore core, Segment segment) throws IOException {
    segments++;
    SegmentVerifier verifier =
        core.newSegmentVerifier(
            ReadThrottle.NONE,
            (shard, range, fault) -> findings.add(damaged(segment, shard, range, fault.name())));
    SegmentVerifier.Found found = verifier.verify(segment.id());
    if (found == null) {
      return;
    }
    verifiedBytes += found.verifiedBytes();
    if (found.unreadableDirectories() > 0) {
      findings.add(
          Finding.of(
              Part.LOG,
              segment.toString(),
              found.unreadableDirectories()
                  + " batches have damaged directories; blobs with pieces there: "
                  + found.undirected()));
    }
  }

  private static Finding damaged(Segment segment, ShardId shard, ByteRange range, String fault) {
    return new Finding(
        Part.SHARD,
        segment.toString(),
        shard.blob().toString(),
        shard.slot(),
        range.offset(),
        range.length(),
        fault);
  }
}
