package dev.ashlar.server.jobs;

import dev.ashlar.gateway.notification.EventName;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.RequestOrigin;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.server.jobs.ListedVersions.Listed;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the versions of a bucket that are due, each on the condition that its key still has the
 * newest version with which it was judged, and as many in between as its rule keeps. So what was
 * written since is not touched, a version that has become the present one again is not taken for an
 * older one, and what clients delete meanwhile leaves no fewer versions than was promised.
 */
final class LifecycleDeletions {
  /** One command. */
  private static final int TARGETS_MAX = 100;

  /** By which events are those of lifecycle rules. */
  private static final RequestOrigin ORIGIN =
      RequestOrigin.newBuilder().setPrincipal(EventName.LIFECYCLE).build();

  private final MetadataClient metadata;
  private final String bucket;
  private final Counting counting;
  private final List<DeleteTarget> targets = new ArrayList<>();
  private final List<LifecycleAct> acts = new ArrayList<>();

  /** A present version that expires after the deletions of older versions of its key. */
  private @Nullable VersionEntry expiring;

  /** Counts what was done. */
  interface Counting {
    void count(LifecycleAct act);
  }

  LifecycleDeletions(MetadataClient metadata, String bucket, Counting counting) {
    this.metadata = metadata;
    this.bucket = bucket;
    this.counting = counting;
  }

  /**
   * Deletes the present version of a key or, where versions are kept, puts a delete marker on it.
   * That marker may take the place of the null version, so older versions are deleted before: the
   * null version would be the marker then.
   *
   * @return how many deletions were carried out meanwhile
   */
  int expire(Listed listed) throws MetadataUnavailableException {
    int number = endOfKey("");
    expiring = listed.entry();
    return number;
  }

  /**
   * All older versions of the keys that were handed in are known, besides those of this one.
   *
   * @return how many deletions were carried out meanwhile
   */
  private int endOfKey(String openKey) throws MetadataUnavailableException {
    VersionEntry entry = expiring;
    if (entry == null || entry.getName().equals(openKey)) {
      return 0;
    }
    expiring = null;
    Precondition.Builder isPresent = Precondition.newBuilder().setIfVersion(entry.getVersion());
    return add(
        DeleteTarget.newBuilder().setKey(entry.getName()).setPrecondition(isPresent),
        LifecycleAct.EXPIRED);
  }

  /**
   * Deletes a version for good that is not the present one.
   *
   * @param newerKept how many versions have to be between it and the newest one
   */
  int delete(Listed listed, int newerKept) throws MetadataUnavailableException {
    VersionEntry entry = listed.entry();
    VersionEntry newest = listed.newest();
    int number = endOfKey(entry.getName());
    Precondition.Builder isSame =
        newest.getDeleteMarker()
            ? Precondition.newBuilder().setIfNoneMatch("*")
            : Precondition.newBuilder().setIfVersion(newest.getVersion());
    return number
        + add(
            DeleteTarget.newBuilder()
                .setKey(entry.getName())
                .setVersion(VersionId.ref(entry))
                .setPosition(entry.getVersion())
                .setNewerKept(newerKept)
                .setPrecondition(isSame),
            listed.judged().isNewest() ? LifecycleAct.MARKER : LifecycleAct.NONCURRENT);
  }

  private int add(DeleteTarget.Builder target, LifecycleAct act)
      throws MetadataUnavailableException {
    targets.add(target.build());
    acts.add(act);
    return targets.size() == TARGETS_MAX ? submit() : 0;
  }

  /**
   * Deletes what was not deleted yet.
   *
   * @param openKey whose versions are not all known; empty: none
   * @return how many deletions were carried out
   */
  int carryOut(String openKey) throws MetadataUnavailableException {
    return endOfKey(openKey) + submit();
  }

  private int submit() throws MetadataUnavailableException {
    int number = targets.size();
    if (number == 0) {
      return 0;
    }
    CommandResult result =
        metadata.submit(
            Command.newBuilder()
                .setOrigin(ORIGIN)
                .setDeleteObjects(
                    DeleteObjects.newBuilder().setBucket(bucket).addAllTargets(targets)));
    List<DeleteResult> results = result.getDeletesList();
    for (int i = 0; i < number; i++) {
      counting.count(i < results.size() ? act(results.get(i), acts.get(i)) : LifecycleAct.CHANGED);
    }
    targets.clear();
    acts.clear();
    return number;
  }

  private static LifecycleAct act(DeleteResult result, LifecycleAct wanted) {
    if (result.getCode() == ResultCode.OBJECT_LOCKED) {
      return LifecycleAct.LOCKED;
    }
    return result.getCode() == ResultCode.OK && result.getFound() ? wanted : LifecycleAct.CHANGED;
  }
}
