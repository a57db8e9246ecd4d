package dev.ashlar.server.admin;

import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataPeers;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.account.Accounts;
import dev.ashlar.server.cluster.ClusterBalance;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.DriveUse;
import dev.ashlar.server.cluster.FailureTolerance;
import dev.ashlar.server.cluster.KnownDrives;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.cluster.StoreSpace;
import dev.ashlar.server.cluster.StoreState;
import dev.ashlar.server.jobs.DeliveryState;
import dev.ashlar.server.jobs.KeyRenewal;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What {@code /admin} tells of the store, and does with its drives. For many threads. */
public final class Admin {
  private final MetadataClient metadata;
  private final GroupDebts debts;
  private final DriveKnowledge known;
  private final DriveChanges changes;
  private final DriveRecalls recalls;
  private final MetadataAdmin metadataPeers;
  private final Quotas quotas;
  private final ProfileChanges profiles;
  private final ProfileMoves moves;
  private final LifecyclePage lifecycles;
  private final EncryptionPage encryption;
  private final EventPage events;
  private final Accounts accounts;
  private final Locator locator;

  /** What a process knows of drives besides their rows in metadata. */
  public interface DriveKnowledge {
    /** Whether the drive takes no writes because one has failed. */
    boolean hasFailed(UUID drive);

    /** Whether the drive could not be opened. */
    default boolean isMissing(UUID drive) {
      return false;
    }

    /** How full the drive is; null if unknown. */
    default @Nullable DriveUse use(DriveRow row) {
      return DriveUse.of(row);
    }

    /** The data folder of the drive; null if it is in another process. */
    default @Nullable Path folder(UUID drive) {
      return null;
    }

    /** The id of the drive in this folder; otherwise the argument. */
    default String idOfFolder(String folder) {
      return folder;
    }
  }

  /**
   * @param peers null: all metadata is in this process
   * @param memoryCheck throws IllegalArgumentException if this process has too little memory for
   *     requests of a profile
   * @param events how far they are delivered; null where another gateway delivers
   */
  public Admin(
      MetadataClient metadata,
      @Nullable MetadataPeers peers,
      GroupDebts debts,
      DriveKnowledge known,
      Accounts accounts,
      Locator locator,
      KeyRenewal renewal,
      Consumer<Profile> memoryCheck,
      Supplier<@Nullable DeliveryState> events) {
    this.encryption = new EncryptionPage(renewal);
    this.events = new EventPage(metadata, events);
    this.profiles = new ProfileChanges(metadata, memoryCheck);
    this.moves = new ProfileMoves(metadata, profiles, Clock.systemUTC());
    this.lifecycles = new LifecyclePage(metadata);
    this.accounts = accounts;
    this.locator = locator;
    this.metadata = metadata;
    this.debts = debts;
    this.known = known;
    this.metadataPeers = new MetadataAdmin(peers);
    this.quotas = new Quotas(metadata);
    this.changes = new DriveChanges(metadata, known::hasFailed);
    this.recalls = new DriveRecalls(metadata, known::isMissing, known::idOfFolder);
  }

  /** What was asked for makes no sense, or not now; the message says why. */
  public static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    public RefusedException(String why) {
      super(why);
    }
  }

  /**
   * All in short.
   *
   * @param restored metadata is from a backup, and the loss of what it does not have is not
   *     accepted yet
   * @param profile the default one
   * @param failureDomain of the default profile
   * @param placementGroups of the default profile
   */
  public record Status(
      boolean restored,
      long epoch,
      String profile,
      String failureDomain,
      int placementGroups,
      List<ProfileChanges.ProfileInfo> profiles,
      Drives drives,
      StoreSpace space,
      FailureTolerance failureTolerance,
      DataRisk risk,
      Protection protection,
      Rebalance rebalance) {}

  /**
   * How many drives there are; those that are down or have failed may be in.
   *
   * @param down of those that have slots or hold something: what is drained may be taken away
   */
  public record Drives(int total, int in, int draining, int out, int down, int failed) {}

  /**
   * What is being moved.
   *
   * @param paused nothing is moved that need not be
   * @param known whether all blobs that are to be moved are counted
   * @param draining drives that are being drained
   * @param drained drives from which nothing is left to be moved
   * @param coming drives that have no slots yet, and get theirs in some seconds
   */
  public record Rebalance(
      boolean paused,
      boolean known,
      long blobs,
      long bytes,
      List<String> draining,
      List<String> drained,
      List<String> coming) {}

  /** A process of the cluster. */
  public record NodeInfo(
      String name,
      String address,
      String rack,
      String zone,
      boolean gateway,
      boolean up,
      long silentMs,
      List<String> drives) {}

  /**
   * A drive.
   *
   * @param standing in, draining or out
   * @param absent its node has come without it
   * @param failed a write has failed, so that it takes none until its node starts again
   * @param capacityBytes of its file system, or what it may use of it
   * @param usedBytes that its segments take, as its node said last; null: it has not
   * @param usedPercent of those and the free ones together
   * @param freeBytes that it could take yet
   * @param liveBytes of those used, what is needed
   * @param slots of placement groups that are its
   * @param shardsToMove that belong elsewhere, as far as they were counted
   * @param empty whether nothing is left on it that has to be moved
   * @param folder of its data, if the drive is in the process that was asked; null otherwise
   */
  public record DriveInfo(
      String id,
      String node,
      String standing,
      boolean outByItself,
      boolean up,
      boolean absent,
      boolean failed,
      long capacityBytes,
      @Nullable Long usedBytes,
      @Nullable Integer usedPercent,
      @Nullable Long freeBytes,
      @Nullable Long liveBytes,
      long slots,
      long shardsToMove,
      long bytesToMove,
      boolean counted,
      boolean empty,
      @Nullable String folder) {}

  /**
   * A placement group.
   *
   * @param up of its slots' drives
   * @param moved slots that had another drive in the last day
   * @param debtBlobs of the group that lack shards
   * @param debtShards that these lack
   * @param debtBytes of these shards
   * @param debtSeconds for how long the group has lacked something; null where that is not known
   * @param counted whether all that is owed was counted
   */
  public record GroupInfo(
      int group,
      List<String> drives,
      int up,
      long moved,
      long debtBlobs,
      long debtShards,
      long debtBytes,
      @Nullable Long debtSeconds,
      boolean counted) {}

  /** What a request for a change came to. */
  public record Done(String done, List<String> drives, long movedSlots, long epoch) {}

  Accounts accounts() {
    return accounts;
  }

  Quotas quotas() {
    return quotas;
  }

  /** What metadata tells now, and what follows from it. */
  public StoreState state() throws MetadataUnavailableException {
    return StoreState.of(metadata, known::isMissing);
  }

  public Status status() throws MetadataUnavailableException {
    StoreState seen = state();
    Registry registry = seen.drives().registry();
    PlacementMap map = seen.drives().map();
    Set<UUID> missed = seen.drives().holding();
    missed.retainAll(seen.down());
    return new Status(
        registry.getRestored(),
        map.epoch(),
        map.standard().profile().toString(),
        ProfileChanges.domain(map.standard()),
        map.standard().groupCount(),
        ProfileChanges.list(map),
        new Drives(
            registry.getDrivesCount(),
            count(registry, row -> row.getStanding() == DriveStanding.STANDING_IN),
            count(registry, row -> row.getStanding() == DriveStanding.STANDING_DRAINING),
            count(registry, row -> row.getStanding() == DriveStanding.STANDING_OUT),
            missed.size(),
            count(registry, row -> known.hasFailed(DriveId.idOf(row)))),
        seen.space(known::use),
        seen.failureTolerance(),
        seen.risk(metadata),
        seen.protection(),
        rebalance());
  }

  private static int count(Registry registry, Predicate<DriveRow> condition) {
    return (int) registry.getDrivesList().stream().filter(condition).count();
  }

  Rebalance rebalance() throws MetadataUnavailableException {
    KnownDrives drives = KnownDrives.of(metadata);
    Registry registry = drives.registry();
    Protection protection = Protection.of(metadata);
    List<DriveInfo> leaving =
        drives().stream().filter(drive -> drive.standing().equals("draining")).toList();
    return new Rebalance(
        registry.getPaused(),
        registry.getDrivesList().stream().noneMatch(DriveRow::getUnsettled),
        protection.movingBlobs(),
        protection.movingBytes(),
        leaving.stream().filter(drive -> !drive.empty()).map(DriveInfo::id).toList(),
        leaving.stream().filter(DriveInfo::empty).map(DriveInfo::id).toList(),
        ClusterBalance.coming(drives, known::hasFailed).stream()
            .map(UUID::toString)
            .sorted()
            .toList());
  }

  List<NodeInfo> nodes() throws MetadataUnavailableException {
    Registry registry = metadata.registry();
    List<NodeInfo> nodes = new ArrayList<>();
    for (NodeRow node : registry.getNodesList()) {
      nodes.add(
          new NodeInfo(
              node.getName(),
              node.getHost() + (node.getPort() == 0 ? "" : ":" + node.getPort()),
              node.getRack(),
              node.getZone(),
              node.getGateway(),
              NodeLiveness.isUp(node, registry.getLogTimeMs()),
              Math.max(0, registry.getLogTimeMs() - node.getHeartbeatMs()),
              registry.getDrivesList().stream()
                  .filter(drive -> drive.getNode().equals(node.getName()))
                  .map(drive -> DriveId.of(drive).id().toString())
                  .toList()));
    }
    return nodes;
  }

  List<DriveInfo> drives() throws MetadataUnavailableException {
    KnownDrives drives = KnownDrives.of(metadata);
    Registry registry = drives.registry();
    Map<UUID, Long> slots = drives.map().slotCounts();
    Map<UUID, DriveLoad> loads = new HashMap<>();
    registry.getLoadsList().forEach(load -> loads.put(DriveId.idOf(load), load));
    Set<UUID> down = drives.downOr(known::isMissing);
    Set<UUID> holding = drives.holding();
    List<DriveInfo> infos = new ArrayList<>();
    for (DriveRow row : registry.getDrivesList()) {
      UUID id = DriveId.idOf(row);
      DriveLoad load = loads.getOrDefault(id, DriveLoad.getDefaultInstance());
      DriveUse own = known.use(row);
      infos.add(
          new DriveInfo(
              id.toString(),
              row.getNode(),
              row.getStanding().name().replace("STANDING_", "").toLowerCase(Locale.ROOT),
              row.getOutByItself(),
              !down.contains(id),
              row.getAbsent() || known.isMissing(id),
              known.hasFailed(id),
              row.getCapacityBytes(),
              own == null ? null : own.usedBytes(),
              own == null ? null : own.usedPercent(),
              own == null ? null : own.freeBytes(),
              own == null ? null : own.liveBytes(),
              slots.getOrDefault(id, 0L),
              load.getShards(),
              load.getBytes(),
              !row.getUnsettled(),
              !holding.contains(id),
              folder(id)));
    }
    return infos;
  }

  private @Nullable String folder(UUID drive) {
    Path folder = known.folder(drive);
    return folder == null ? null : folder.toString();
  }

  /** First those that have owed shards for longest. */
  List<GroupInfo> groups() throws MetadataUnavailableException {
    KnownDrives drives = KnownDrives.of(metadata);
    PlacementMap map = drives.map();
    Set<UUID> down = drives.downOr(known::isMissing);
    GroupDebts.Count count = debts.now();
    boolean isCounted = count.complete() && Protection.of(metadata).known();
    Map<Integer, GroupDebts.Group> groups = new LinkedHashMap<>();
    count.groups().forEach(group -> groups.put(group.pg(), group));
    for (int pg : map.groups()) {
      groups.putIfAbsent(pg, GroupDebts.Group.whole(pg));
    }
    return groups.values().stream().map(group -> group(map, down, group, isCounted)).toList();
  }

  private GroupInfo group(
      PlacementMap map, Set<UUID> down, GroupDebts.Group debt, boolean isCounted) {
    List<UUID> drives = map.slots(debt.pg());
    return new GroupInfo(
        debt.pg(),
        drives.stream().map(UUID::toString).toList(),
        (int) drives.stream().filter(drive -> !down.contains(drive)).count(),
        map.pastOf(debt.pg()).stream().map(PlacementMap.Past::slot).distinct().count(),
        debt.blobs(),
        debt.shards(),
        debt.bytes(),
        debt.blobs() == 0 ? Long.valueOf(0) : debts.seconds(debt),
        isCounted);
  }

  /** From now on nothing is moved that need not be; or again everything that is to be. */
  Done pause(boolean isPaused) throws MetadataUnavailableException, RefusedException {
    if (metadata.registry().getRestored()) {
      throw new RefusedException(
          "metadata was restored from a backup, so all moving is paused until 'ashlar admin metadata"
              + " accept-restore'");
    }
    return setPaused(isPaused);
  }

  /** From now on what the restored metadata does not know is deleted from the drives. */
  private Done acceptRestore() throws MetadataUnavailableException, RefusedException {
    if (!metadata.registry().getRestored()) {
      throw new RefusedException("no restore from a backup waits to be accepted");
    }
    return setPaused(false);
  }

  private Done setPaused(boolean isPaused) throws MetadataUnavailableException, RefusedException {
    ResultCode code =
        metadata
            .submit(Command.newBuilder().setSetBalance(SetBalance.newBuilder().setPaused(isPaused)))
            .getCode();
    if (code != ResultCode.OK) {
      throw new RefusedException("metadata refuses it: " + code);
    }
    return new Done(isPaused ? "paused" : "resumed", List.of(), 0, metadata.placement().epoch());
  }

  /**
   * Null for a name that is none.
   *
   * @param target of a page about one thing, such as the object to locate; otherwise empty
   * @param by further describes it, such as the version of that object; or empty
   */
  @Nullable Object view(String name, String target, String by)
      throws MetadataUnavailableException, RefusedException {
    return switch (name) {
      case "locate", "locate-verified" ->
          locator.locate(target, by, name.endsWith("verified"), this::folder);
      case "metadata" -> metadataPeers.page();
      case "accounts" -> accounts.list();
      case "status" -> status();
      case "nodes" -> nodes();
      case "drives" -> drives();
      case "pgs" -> groups();
      case "repair" -> Protection.of(metadata);
      case "rebalance" -> rebalance();
      case "profiles" -> profiles.list();
      case "profile-moves" -> moves.list();
      case "lifecycle" -> lifecycles.list();
      case "encryption" -> encryption.page();
      case "events" -> events.info();
      case "buckets" -> quotas.buckets();
      case "account-usage" -> quotas.accounts();
      default -> null;
    };
  }

  /**
   * Null for a name that is none.
   *
   * @param by of a replacement, the drive or metadata peer that takes the target's place; of a
   *     quota, its limits; of a new profile, its shape; of a bucket or a move of data, the storage
   *     class
   */
  @Nullable Object change(String name, String target, String by)
      throws MetadataUnavailableException, RefusedException {
    return switch (name) {
      case "metadata-add" -> metadataPeers.change(target, "");
      case "metadata-remove" -> metadataPeers.change("", target);
      case "metadata-replace" -> metadataPeers.change(by, target);
      case "metadata-accept-restore" -> acceptRestore();
      case "drain" -> changes.stand(target, DriveStanding.STANDING_DRAINING);
      case "undrain", "in" -> changes.stand(target, DriveStanding.STANDING_IN);
      case "out" -> changes.stand(target, DriveStanding.STANDING_OUT);
      case "replace" -> changes.replace(target, by);
      case "drive-recall" -> recalls.recall(target);
      case "profile-add" -> profiles.add(target, by);
      case "profile-default" -> profiles.setDefault(target);
      case "profile-remove" -> profiles.remove(target);
      case "bucket-class" -> profiles.setOfBucket(target, by);
      case "profile-move" -> moves.begin(target, by);
      case "profile-move-stop" -> moves.stop(target);
      case "bucket-quota" -> quotas.ofBucket(target, by);
      case "account-quota" -> quotas.ofAccount(target, by);
      case "encryption-renew" -> encryption.renew();
      case "pause" -> pause(true);
      case "resume" -> pause(false);
      default -> null;
    };
  }
}
