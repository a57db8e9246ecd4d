package dev.ashlar.server.admin;

import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.Protection;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What an operator wants to know, as {@code /health} tells it. Its form is a promise to scripts:
 * fields may be added, those that are there stay.
 */
public record Health(
    Status status,
    Extent reads,
    Extent writes,
    Drives drives,
    Metadata metadata,
    Protection protection,
    DataRisk risk)
    implements RunningServer.HealthPage {
  enum Status {
    /** Everything is there. */
    UP,
    /** Requests are served, but something is missing and has to be seen to. */
    DEGRADED,
    /** Nothing can be read. */
    DOWN
  }

  /** For how many objects something can be done. */
  enum Extent {
    ALL,
    SOME,
    NONE;

    /** Enough drives are there; whether they have everything is another question. */
    Extent ifAll(DataRisk risk) {
      return this == ALL && !risk.allReadable() ? SOME : this;
    }
  }

  /**
   * The drives by their folders.
   *
   * @param missing could not be opened
   * @param full take no new data until something is deleted
   * @param readOnly failed or hanging: what they have is read
   */
  public record Drives(
      int total,
      int open,
      int writable,
      List<String> missing,
      List<String> full,
      List<String> readOnly) {
    public Drives {
      missing = List.copyOf(missing);
      full = List.copyOf(full);
      readOnly = List.copyOf(readOnly);
    }
  }

  /** Sorts drives by what can be asked of them. */
  public static final class DriveSurvey {
    private final Set<UUID> open = new HashSet<>();
    private final Set<UUID> writable = new HashSet<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> full = new ArrayList<>();
    private final List<String> readOnly = new ArrayList<>();

    /**
     * @param store null: nothing can be asked of it
     */
    public void add(UUID id, String name, @Nullable ShardStore store) {
      if (store == null) {
        missing.add(name);
        return;
      }
      open.add(id);
      ShardFault refusal = store.writeRefusal();
      if (refusal == null) {
        writable.add(id);
      } else if (refusal == ShardFault.FULL) {
        full.add(name);
      } else {
        readOnly.add(name);
      }
    }

    Set<UUID> open() {
      return open;
    }

    Set<UUID> writable() {
      return writable;
    }

    public Drives drives() {
      return new Drives(
          open.size() + missing.size(), open.size(), writable.size(), missing, full, readOnly);
    }
  }

  /** The metadata peers by their folders. */
  public record Metadata(int total, int members, List<String> rebuilding, List<LeftOut> leftOut) {
    public Metadata {
      rebuilding = List.copyOf(rebuilding);
      leftOut = List.copyOf(leftOut);
    }

    public static Metadata of(List<FolderStatus> folders) {
      List<String> rebuilding =
          folders.stream()
              .filter(folder -> folder.standing() == Standing.REBUILDING)
              .map(folder -> folder.folder().toString())
              .toList();
      List<LeftOut> leftOut =
          folders.stream()
              .filter(folder -> folder.standing() == Standing.LEFT_OUT)
              .map(folder -> new LeftOut(folder.folder().toString(), folder.reason()))
              .toList();
      int members = folders.size() - rebuilding.size() - leftOut.size();
      return new Metadata(folders.size(), members, rebuilding, leftOut);
    }

    public boolean hasMajority() {
      return members > total / 2;
    }
  }

  /** A metadata folder that is not used, and why. */
  record LeftOut(String folder, String reason) {}

  /**
   * @param profiles of the store, at least one
   */
  public static Health of(
      List<Profile> profiles,
      Drives drives,
      Metadata metadata,
      Protection protection,
      DataRisk risk) {
    boolean hasMetadata = metadata.hasMajority();
    Extent able = extent(hasMetadata, profiles, drives, drives.open, Profile::dataShards);
    Extent reads = able.ifAll(risk);
    Extent writes = extent(hasMetadata, profiles, drives, drives.writable, Profile::durableMinimum);
    boolean isWhole =
        drives.writable == drives.total
            && metadata.members == metadata.total
            && protection.holdsAllShards();
    Status status = reads == Extent.NONE ? Status.DOWN : isWhole ? Status.UP : Status.DEGRADED;
    return new Health(status, reads, writes, drives, metadata, protection, risk);
  }

  private static Extent extent(
      boolean hasMetadata,
      List<Profile> profiles,
      Drives drives,
      int able,
      ToIntFunction<Profile> needed) {
    if (!hasMetadata) {
      return Extent.NONE;
    }
    Set<Extent> extents = EnumSet.noneOf(Extent.class);
    for (Profile profile : profiles) {
      extents.add(extent(profile, drives.total, able, needed.applyAsInt(profile)));
    }
    return extents.size() == 1 ? extents.iterator().next() : Extent.SOME;
  }

  /** Objects lie on k+m of all drives: which of them are able decides for each object anew. */
  private static Extent extent(Profile profile, int total, int able, int needed) {
    if (able < needed) {
      return Extent.NONE;
    }
    return total - able <= profile.shards() - needed ? Extent.ALL : Extent.SOME;
  }
}
