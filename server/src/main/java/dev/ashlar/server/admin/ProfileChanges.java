package dev.ashlar.server.admin;

import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RemoveProfile;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketStorageClass;
import dev.ashlar.protocol.message.SetDefaultProfile;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.cluster.KnownDrives;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Shows and changes the profiles of the store. */
public final class ProfileChanges {
  private static final int TRIES = 5;

  /**
   * The peers of a new metadata group, and those of one whose last peer was just upgraded, agree on
   * the latest metadata version within a second or two. So many pauses are granted to them.
   */
  private static final int AGREEMENT_PAUSES = 20;

  private static final Duration AGREEMENT_PAUSE = Duration.ofMillis(250);

  private final MetadataClient metadata;
  private final Consumer<Profile> memoryCheck;
  private final Runnable pause;

  /**
   * @param memoryCheck throws IllegalArgumentException if this process has too little memory for
   *     requests of a profile
   */
  public ProfileChanges(MetadataClient metadata, Consumer<Profile> memoryCheck) {
    this(metadata, memoryCheck, () -> LockSupport.parkNanos(AGREEMENT_PAUSE.toNanos()));
  }

  /**
   * @param pause between two questions whether metadata knows profiles by now
   */
  ProfileChanges(MetadataClient metadata, Consumer<Profile> memoryCheck, Runnable pause) {
    this.metadata = metadata;
    this.memoryCheck = memoryCheck;
    this.pause = pause;
  }

  /**
   * A profile.
   *
   * @param name which is also the storage class of its objects
   * @param profile k+m
   * @param stripeUnit in bytes
   * @param standard whether it is the default
   */
  public record ProfileInfo(
      String name,
      String profile,
      int stripeUnit,
      boolean standard,
      String failureDomain,
      int placementGroups) {}

  List<ProfileInfo> list() {
    return list(metadata.placement());
  }

  static List<ProfileInfo> list(PlacementMap map) {
    return map.present().stream()
        .map(
            placed ->
                new ProfileInfo(
                    placed.name(),
                    placed.profile().toString(),
                    placed.profile().stripeUnit(),
                    placed.number() == map.standardNumber(),
                    domain(placed),
                    placed.groupCount()))
        .toList();
  }

  static String domain(PlacedProfile placed) {
    return placed.failureDomain().name().replace("DOMAIN_", "").toLowerCase(Locale.ROOT);
  }

  private interface Change {
    Command.Builder of(KnownDrives known) throws Admin.RefusedException;
  }

  /**
   * Adds a profile.
   *
   * @param shape k+m, and behind an @ the stripe unit in bytes; without it, the default
   */
  Admin.Done add(String name, String shape)
      throws MetadataUnavailableException, Admin.RefusedException {
    Profile profile = parse(shape);
    if (!PlacedProfile.isName(name)) {
      throw new Admin.RefusedException(
          "a profile is named with up to 32 of A-Z, 0-9, _ and -, and STANDARD and FIRST are taken");
    }
    if (profile.parityShards() == 0) {
      throw new Admin.RefusedException(
          "data of a profile without parity would be lost with any of its drives, and no lost drive"
              + " would be replaced while there is such data: m has to be at least 1");
    }
    checkMemory(profile);
    return carryOut("added", known -> added(known, name, profile));
  }

  private void checkMemory(Profile profile) throws Admin.RefusedException {
    try {
      memoryCheck.accept(profile);
    } catch (IllegalArgumentException e) {
      throw new Admin.RefusedException(String.valueOf(e.getMessage()));
    }
  }

  /** Refuses a profile for whose requests this process has too little memory. */
  void checkMemory(String name) throws Admin.RefusedException {
    Optional<PlacedProfile> placed = metadata.placement().ofClass(name);
    if (placed.isPresent()) {
      checkMemory(placed.get().profile());
    }
  }

  private static Profile parse(String shape) throws Admin.RefusedException {
    int at = shape.indexOf('@');
    try {
      return at < 0
          ? Profile.parse(shape, 0)
          : Profile.parse(shape.substring(0, at), Integer.parseInt(shape.substring(at + 1)));
    } catch (IllegalArgumentException e) {
      throw new Admin.RefusedException(String.valueOf(e.getMessage()));
    }
  }

  private static Command.Builder added(KnownDrives known, String name, Profile profile)
      throws Admin.RefusedException {
    List<String> older = known.nodesWithoutProfiles();
    if (!older.isEmpty()) {
      throw new Admin.RefusedException(
          "nodes "
              + String.join(", ", older)
              + " run an earlier version, which knows one profile only: upgrade them first");
    }
    AddedProfile added;
    try {
      added = Placement.added(known.registry(), known.map(), name, profile);
    } catch (IllegalArgumentException e) {
      throw new Admin.RefusedException(String.valueOf(e.getMessage()));
    }
    return Command.newBuilder()
        .setAddProfile(AddProfile.newBuilder().setBaseEpoch(known.map().epoch()).setProfile(added));
  }

  /**
   * From now on, data has this profile of which nobody says otherwise. It may have been added where
   * there is more memory than here.
   */
  Admin.Done setDefault(String name) throws MetadataUnavailableException, Admin.RefusedException {
    return carryOut(
        "default",
        known -> {
          PlacedProfile placed = placed(known, name);
          checkMemory(placed.profile());
          return Command.newBuilder()
              .setSetDefaultProfile(
                  SetDefaultProfile.newBuilder()
                      .setBaseEpoch(known.map().epoch())
                      .setNumber(placed.number()));
        });
  }

  Admin.Done remove(String name) throws MetadataUnavailableException, Admin.RefusedException {
    return carryOut(
        "removed",
        known ->
            Command.newBuilder()
                .setRemoveProfile(
                    RemoveProfile.newBuilder()
                        .setBaseEpoch(known.map().epoch())
                        .setNumber(removable(known, name).number())));
  }

  /**
   * From now on, objects of the bucket have this storage class of which nobody says otherwise.
   *
   * @param name STANDARD: the default of the store
   */
  Admin.Done setOfBucket(String bucket, String name)
      throws MetadataUnavailableException, Admin.RefusedException {
    return carryOut(
        "set",
        known -> {
          PlacedProfile placed = placed(known, name);
          checkMemory(placed.profile());
          String stored = PlacedProfile.storedClass(name);
          return Command.newBuilder()
              .setSetBucketStorageClass(
                  SetBucketStorageClass.newBuilder().setBucket(bucket).setStorageClass(stored));
        });
  }

  private static PlacedProfile removable(KnownDrives known, String name)
      throws Admin.RefusedException {
    PlacedProfile placed = placed(known, name);
    if (placed.number() == known.map().standardNumber()) {
      throw new Admin.RefusedException(
          "the profile is in use: it is the default, so make another one the default first");
    }
    return placed;
  }

  private static PlacedProfile placed(KnownDrives known, String name)
      throws Admin.RefusedException {
    return known
        .map()
        .ofClass(name)
        .orElseThrow(() -> new Admin.RefusedException("there is no profile " + name));
  }

  /**
   * Tries again if the placement map has changed meanwhile, or while metadata may be about to agree
   * on a version that knows profiles.
   */
  private Admin.Done carryOut(String done, Change change)
      throws MetadataUnavailableException, Admin.RefusedException {
    int pauses = 0;
    for (int conflicts = 0; conflicts < TRIES; ) {
      KnownDrives known = KnownDrives.of(metadata);
      ResultCode code = metadata.submit(change.of(known)).getCode();
      if (code == ResultCode.OK) {
        return new Admin.Done(done, List.of(), 0, known.map().epoch() + 1);
      } else if (code == ResultCode.CONDITIONAL_CONFLICT) {
        conflicts++;
      } else if (code == ResultCode.INVALID_COMMAND && pauses++ < AGREEMENT_PAUSES) {
        pause.run();
      } else {
        throw new Admin.RefusedException(reason(code));
      }
    }
    throw new Admin.RefusedException(
        "the placement map keeps changing, or a process of an earlier version was up a moment ago:"
            + " try again");
  }

  private static String reason(ResultCode code) {
    return switch (code) {
      case DELETE_CONFLICT ->
          "the profile is in use: objects, deleted objects that are not yet collected, or incomplete"
              + " uploads have it, a bucket has it as its default, or data is being moved to it";
      case NO_SUCH_BUCKET -> "there is no such bucket";
      case ENTITY_ALREADY_EXISTS -> "there is a profile of this name";
      case LIMIT_EXCEEDED ->
          "there are too many profiles, counting removed ones, or too many incomplete uploads";
      case INVALID_COMMAND ->
          "metadata does not take it: if not all metadata nodes know several profiles yet, upgrade"
              + " them first; if one is away, try again when it is back";
      default -> "metadata refuses it: " + code;
    };
  }
}
