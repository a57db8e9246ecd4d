package dev.ashlar.server.cluster;

import dev.ashlar.metadata.placement.PlacementPlan;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.server.jobs.PeriodicJobs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the placement map as the drives are: takes those out that have been down, or failed, for
 * long, and those in again that come back, and gives new ones their share. Where two processes do,
 * the map's epoch lets one of them through.
 */
public final class ClusterBalance {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterBalance.class);
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  /**
   * What happened between looks that are farther apart is not known, also of those that are down.
   */
  private static final Duration GAP_MAX = Duration.ofMillis(NodeLiveness.DOWN_MS);

  /**
   * For so long a drive is up before it gets slots, so that every gateway has found it by then:
   * they look where the nodes are every two seconds, and try to connect at least every three. A
   * write that comes before its gateway is connected would have a slot less.
   */
  private static final Duration FOUND_AFTER = Duration.ofSeconds(5);

  private final MetadataClient metadata;
  private final Duration outAfter;
  private final Predicate<UUID> hasFailed;
  private final LongSupplier nanos;

  /** Since when this process has seen a drive down: what happened before it looked is not time. */
  private final Map<UUID, Long> downSinceNanos = new HashMap<>();

  /** The same of those that are up. */
  private final Map<UUID, Long> upSinceNanos = new HashMap<>();

  private long lookedAtNanos;

  /** What the last plan was made from that moved nothing: from the same follows the same. */
  private @Nullable Registry settled;

  /**
   * @param hasFailed whether a drive takes no writes because one has failed, or hangs, though its
   *     node lives
   * @param nanos a clock that only goes forward
   */
  public ClusterBalance(
      MetadataClient metadata, Duration outAfter, Predicate<UUID> hasFailed, LongSupplier nanos) {
    this.metadata = metadata;
    this.outAfter = outAfter;
    this.hasFailed = hasFailed;
    this.nanos = nanos;
  }

  /** Starts the job. */
  public void start(PeriodicJobs jobs) {
    jobs.start(
        "balance",
        INTERVAL,
        PeriodicJobs.Rest.of(INTERVAL),
        () -> {
          balance();
          return false;
        },
        this::forget);
  }

  /** What was seen before another process took over says nothing about now. */
  void forget() {
    downSinceNanos.clear();
    upSinceNanos.clear();
    settled = null;
  }

  /** One round. */
  void balance() throws MetadataUnavailableException {
    KnownDrives drives = KnownDrives.of(metadata);
    PlacementMap map = drives.map();
    if (map.epoch() != drives.registry().getEpoch()) {
      return;
    }
    List<DriveRow> changed = changed(drives);
    Registry known = known(drives, this::isFound);
    if (changed.isEmpty() && known.equals(settled)) {
      return;
    }
    MoveSlots plan;
    try {
      plan = PlacementPlan.plan(known, map, changed);
    } catch (IllegalArgumentException e) {
      LOG.debug("No slots are moved: {}", e.getMessage());
      return;
    }
    if (plan.getMovesCount() == 0 && plan.getDrivesCount() == 0) {
      settled = known;
      return;
    }
    ResultCode code = metadata.submit(Command.newBuilder().setMoveSlots(plan)).getCode();
    if (code == ResultCode.OK) {
      LOG.info(
          "Placement epoch {}: {} of {} slots move to another drive.",
          map.epoch() + 1,
          plan.getMovesCount(),
          map.slotDrives().stream().mapToInt(List::size).sum());
      changed.forEach(row -> LOG.info("Drive {} is now {}.", DriveId.of(row), row.getStanding()));
    } else {
      LOG.debug("The placement map has changed meanwhile: {}", code);
    }
  }

  /**
   * What a plan depends on, without what changes with every heartbeat.
   *
   * @param isFound whether a drive that has no slots may get some already
   */
  private static Registry known(KnownDrives drives, Predicate<UUID> isFound) {
    Registry all = drives.registry();
    Registry.Builder known =
        Registry.newBuilder()
            .setEpoch(all.getEpoch())
            .setPaused(all.getPaused())
            .setRestored(all.getRestored());
    for (NodeRow node : all.getNodesList()) {
      known.addNodes(
          NodeRow.newBuilder()
              .setName(node.getName())
              .setRack(node.getRack())
              .setZone(node.getZone()));
    }
    Set<UUID> placed = drives.map().slotCounts().keySet();
    for (DriveRow row : all.getDrivesList()) {
      UUID id = DriveId.idOf(row);
      if (placed.contains(id) || isFound.test(id)) {
        known.addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(row.getDriveHigh())
                .setDriveLow(row.getDriveLow())
                .setNode(row.getNode())
                .setCapacityBytes(row.getCapacityBytes())
                .setStanding(row.getStanding()));
      }
    }
    return known.build();
  }

  /**
   * Drives that have no slots and get some as soon as they have been up for a while.
   *
   * @param hasFailed whether a drive takes no writes because one has failed
   */
  public static Set<UUID> coming(KnownDrives drives, Predicate<UUID> hasFailed) {
    Set<UUID> placed = drives.map().slotCounts().keySet();
    Set<UUID> down = drives.downOr(hasFailed);
    List<DriveRow> candidates =
        drives.registry().getDrivesList().stream()
            .filter(row -> isIn(row) || isBackByItself(row))
            .filter(row -> !placed.contains(DriveId.idOf(row)))
            .filter(row -> !down.contains(DriveId.idOf(row)))
            .map(row -> standing(row, DriveStanding.STANDING_IN, false))
            .toList();
    if (candidates.isEmpty()) {
      return Set.of(); // as nearly always: what follows takes a while
    }
    try {
      Registry known = known(drives, drive -> !down.contains(drive));
      MoveSlots plan = PlacementPlan.plan(known, drives.map(), candidates);
      Set<UUID> getting =
          plan.getMovesList().stream()
              .map(move -> new UUID(move.getDriveHigh(), move.getDriveLow()))
              .collect(Collectors.toSet());
      return candidates.stream()
          .map(DriveId::idOf)
          .filter(getting::contains)
          .collect(Collectors.toSet());
    } catch (IllegalArgumentException e) {
      return Set.of(); // too few drives are in for any plan
    }
  }

  private static boolean isBackByItself(DriveRow row) {
    return row.getStanding() == DriveStanding.STANDING_OUT && row.getOutByItself();
  }

  /** Drives that are taken out, or in again. */
  private List<DriveRow> changed(KnownDrives drives) {
    Registry registry = drives.registry();
    Set<UUID> down = drives.downOr(hasFailed);
    long now = note(registry, down);
    Set<UUID> holding = drives.holding();
    List<DriveRow> changed = new ArrayList<>();
    List<DriveRow> lost = new ArrayList<>();
    Set<String> nodesAway = new HashSet<>();
    for (DriveRow row : registry.getDrivesList()) {
      UUID id = DriveId.of(row).id();
      boolean isOut = row.getStanding() == DriveStanding.STANDING_OUT;
      if (down.contains(id)) {
        boolean isMissed = holding.contains(id);
        if (isMissed) {
          nodesAway.add(row.getNode());
        }
        boolean isLong = now - downSince(row) >= outAfter.toNanos();
        if (!isOut && (isIn(row) || isMissed) && isLong) {
          lost.add(row);
        }
      } else if (isBackByItself(row) && isFound(id)) {
        changed.add(standing(row, DriveStanding.STANDING_IN, false));
      }
    }
    boolean mayTakeOut = !registry.getRestored(); // nothing is moved then, anyway
    if (mayTakeOut && nodesAway.size() <= leastParity(drives.map())) {
      long in = registry.getDrivesList().stream().filter(ClusterBalance::isIn).count();
      changed.addAll(takenOut(lost, in + changed.size() - mostShards(drives.map())));
    } // else it is a network, not drives: what is there cannot rebuild it, and it will come back
    return changed;
  }

  /** As many drives have to stay in. */
  private static int mostShards(PlacementMap map) {
    return map.present().stream().mapToInt(placed -> placed.profile().shards()).max().orElse(0);
  }

  /** So many nodes may be lost: what profiles without parity have is lost with any. */
  private static int leastParity(PlacementMap map) {
    return map.present().stream()
        .mapToInt(placed -> placed.profile().parityShards())
        .filter(parity -> parity > 0)
        .min()
        .orElse(0);
  }

  /** Counts the time of those that are down, and of the others; returns what time it is. */
  private long note(Registry registry, Set<UUID> down) {
    long now = nanos.getAsLong();
    if (now - lookedAtNanos > GAP_MAX.toNanos()) {
      forget();
    }
    lookedAtNanos = now;
    Set<UUID> up = new HashSet<>();
    registry.getDrivesList().forEach(row -> up.add(DriveId.idOf(row)));
    up.removeAll(down);
    note(downSinceNanos, down, now);
    note(upSinceNanos, up, now);
    return now;
  }

  private static void note(Map<UUID, Long> since, Set<UUID> drives, long now) {
    since.keySet().retainAll(drives);
    drives.forEach(drive -> since.putIfAbsent(drive, now));
  }

  private boolean isFound(UUID drive) {
    Long since = upSinceNanos.get(drive);
    return since != null && lookedAtNanos - since >= FOUND_AFTER.toNanos();
  }

  private long downSince(DriveRow row) {
    return Objects.requireNonNull(downSinceNanos.get(DriveId.of(row).id()));
  }

  /**
   * Those that are down for longest first.
   *
   * @param spare how many drives that are in may go: the others have to have all slots
   */
  private List<DriveRow> takenOut(List<DriveRow> lost, long spare) {
    List<DriveRow> out = new ArrayList<>();
    long left = spare;
    lost.sort(Comparator.comparingLong(this::downSince));
    for (DriveRow row : lost) {
      boolean isIn = isIn(row);
      if (!isIn || left > 0) {
        out.add(standing(row, DriveStanding.STANDING_OUT, isIn));
        left -= isIn ? 1 : 0;
      }
    }
    return out;
  }

  private static boolean isIn(DriveRow row) {
    return row.getStanding() == DriveStanding.STANDING_IN;
  }

  public static DriveRow standing(DriveRow row, DriveStanding standing, boolean isByItself) {
    return row.toBuilder().setStanding(standing).setOutByItself(isByItself).build();
  }
}
