package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ashlar.it.fault.VersionLedger.Version;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.ObjectLockLegalHoldStatus;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.ObjectLockRetentionMode;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Clients that lock versions of a bucket, and try to delete them. Each changes keys of its own, so
 * that it knows what must be refused; all of them try to delete versions that are locked for long.
 */
final class LockWorkload implements CrashClients.Workload {
  private static final int KEYS_EACH = 4;

  /** Versions that nothing deletes: more would only make the checks longer. */
  private static final int FOREVER_MAX = 120;

  private static final String NONE = "none";
  private static final String ON = "ON";
  private static final String OFF = "OFF";

  private final S3Client s3;
  private final String bucket;
  private final VersionLedger ledger = new VersionLedger();
  private final VersionClient client;

  /** Mode and date by key and id. */
  private final Ledger<String> retentions = new Ledger<>();

  private final Ledger<String> holds = new Ledger<>();
  private final Queue<ObjectIdentifier> forever = new ConcurrentLinkedQueue<>();
  private final Map<String, Lock> locks = new ConcurrentHashMap<>();

  /** What the owner of a version knows of its lock. */
  private record Lock(String mode, Instant until, boolean isHeld) {
    static final Lock OPEN = new Lock(NONE, Instant.EPOCH, false);

    String retention() {
      return mode.equals(NONE) ? NONE : mode + " " + until;
    }

    String hold() {
      return isHeld ? ON : OFF;
    }

    boolean isDeletable(boolean bypasses) {
      boolean isRetained = mode.equals("COMPLIANCE") || (mode.equals("GOVERNANCE") && !bypasses);
      return !isHeld && !isRetained;
    }
  }

  /**
   * @param bucket with object lock
   */
  LockWorkload(S3Client s3, String bucket) {
    this.s3 = s3;
    this.bucket = bucket;
    this.client = new VersionClient(s3, bucket, ledger);
  }

  private static String of(String key, String id) {
    return key + " " + id;
  }

  @Override
  public long acknowledgements() {
    return ledger.acknowledgements();
  }

  @Override
  public void step(int thread, SplittableRandom random) {
    String key = "t" + thread + "/k" + random.nextInt(KEYS_EACH);
    int dice = random.nextInt(100);
    if (dice < 30) {
      put(key, random);
    } else if (dice < 36) {
      client.delete(key);
    } else if (dice < 50) {
      attack(random);
    } else {
      Optional<Version> version = ledger.any(key, random).filter(it -> it.content() != null);
      if (version.isEmpty()) {
        put(key, random);
      } else if (dice < 62) {
        retain(key, version.get().id(), random);
      } else if (dice < 74) {
        hold(key, version.get().id(), random.nextBoolean());
      } else if (dice < 94) {
        deleteVersion(key, version.get().id(), random.nextInt(3) > 0);
      } else {
        client.check(key, version.get());
      }
    }
  }

  private Lock lock(String key, String id) {
    return locks.getOrDefault(of(key, id), Lock.OPEN);
  }

  private static Instant yearsAhead(int years) {
    return Instant.now().plus(Duration.ofDays(365L * years)).truncatedTo(ChronoUnit.SECONDS);
  }

  private void put(String key, SplittableRandom random) {
    boolean isForever = random.nextInt(12) == 0 && forever.size() < FOREVER_MAX;
    boolean isGoverned = random.nextInt(3) == 0;
    String mode = isForever ? "COMPLIANCE" : isGoverned ? "GOVERNANCE" : NONE;
    Instant until = mode.equals(NONE) ? Instant.EPOCH : yearsAhead(1 + random.nextInt(9));
    Lock lock = new Lock(mode, until, random.nextInt(4) == 0);
    Optional<String> id =
        client.put(
            key,
            VersionWorkload.content(random),
            put -> {
              if (!mode.equals(NONE)) {
                put.objectLockMode(ObjectLockMode.fromValue(mode)).objectLockRetainUntilDate(until);
              }
              if (lock.isHeld()) {
                put.objectLockLegalHoldStatus(ObjectLockLegalHoldStatus.ON);
              }
            });
    if (id.isPresent()) {
      know(key, id.get(), lock);
    }
  }

  private void know(String key, String id, Lock lock) {
    locks.put(of(key, id), lock);
    retentions.settle(of(key, id), lock.retention());
    holds.settle(of(key, id), lock.hold());
    if (lock.mode().equals("COMPLIANCE")) {
      ObjectIdentifier version = ObjectIdentifier.builder().key(key).versionId(id).build();
      if (!forever.contains(version)) {
        forever.add(version);
      }
    }
  }

  /** Extends a retention, or begins or shortens one in governance mode. */
  private void retain(String key, String id, SplittableRandom random) {
    Lock lock = lock(key, id);
    boolean isBegun = lock.mode().equals(NONE);
    boolean isShorter = !isBegun && random.nextInt(3) == 0;
    boolean bypasses = random.nextBoolean();
    String mode = isBegun ? "GOVERNANCE" : lock.mode();
    Instant base = isBegun ? yearsAhead(1) : lock.until();
    Instant until = base.plusSeconds(isShorter ? -86_400 : 86_400);
    if (isShorter && (lock.mode().equals("COMPLIANCE") || !bypasses)) {
      refused(() -> putRetention(key, id, mode, until, bypasses));
      return;
    }
    Lock next = new Lock(mode, until, lock.isHeld());
    Ledger<String>.Attempt attempt = retentions.begin(of(key, id), next.retention());
    putRetention(key, id, mode, until, bypasses);
    attempt.acknowledged();
    locks.put(of(key, id), next);
  }

  private void putRetention(String key, String id, String mode, Instant until, boolean bypasses) {
    s3.putObjectRetention(
        b -> {
          b.bucket(bucket).key(key).versionId(id);
          b.retention(r -> r.mode(ObjectLockRetentionMode.fromValue(mode)).retainUntilDate(until));
          if (bypasses) {
            b.bypassGovernanceRetention(true);
          }
        });
  }

  private void hold(String key, String id, boolean isOn) {
    Lock lock = lock(key, id);
    Lock next = new Lock(lock.mode(), lock.until(), isOn);
    Ledger<String>.Attempt attempt = holds.begin(of(key, id), next.hold());
    s3.putObjectLegalHold(
        b ->
            b.bucket(bucket)
                .key(key)
                .versionId(id)
                .legalHold(h -> h.status(ObjectLockLegalHoldStatus.fromValue(next.hold()))));
    attempt.acknowledged();
    locks.put(of(key, id), next);
  }

  private void deleteVersion(String key, String id, boolean bypasses) {
    if (lock(key, id).isDeletable(bypasses)) {
      client.deleteVersion(key, id, bypasses);
    } else {
      refused(
          () ->
              s3.deleteObject(
                  b -> {
                    b.bucket(bucket).key(key).versionId(id);
                    if (bypasses) {
                      b.bypassGovernanceRetention(true);
                    }
                  }));
    }
  }

  /** A request that a lock forbids. */
  private static void refused(Runnable request) {
    try {
      request.run();
    } catch (S3Exception failure) {
      if (VersionClient.isRefusal(failure, 403, "AccessDenied")) {
        return;
      }
      throw failure;
    }
    fail("a locked version was changed");
  }

  /** Nobody deletes them, whoever they belong to. */
  private void attack(SplittableRandom random) {
    List<ObjectIdentifier> all = List.copyOf(forever);
    if (all.isEmpty()) {
      return;
    }
    ObjectIdentifier target = all.get(random.nextInt(all.size()));
    switch (random.nextInt(3)) {
      case 0 ->
          refused(
              () ->
                  s3.deleteObject(
                      b -> b.bucket(bucket).key(target.key()).versionId(target.versionId())));
      case 1 ->
          refused(
              () ->
                  putRetention(
                      target.key(), target.versionId(), "GOVERNANCE", yearsAhead(20), true));
      default -> {
        var answer =
            s3.deleteObjects(
                b ->
                    b.bucket(bucket)
                        .bypassGovernanceRetention(true)
                        .delete(d -> d.objects(target, target)));
        assertTrue(answer.deleted().isEmpty(), () -> "deleted: " + target);
        answer.errors().forEach(error -> assertEquals("AccessDenied", error.code()));
      }
    }
  }

  @Override
  public VersionClient.Usage checkAll() {
    locks.clear();
    return client.checkAll(this::checkLock);
  }

  private void checkLock(String key, GetObjectResponse version) {
    String id = version.versionId();
    String mode = version.objectLockMode() == null ? NONE : version.objectLockModeAsString();
    Instant until =
        version.objectLockRetainUntilDate() == null
            ? Instant.EPOCH
            : version.objectLockRetainUntilDate();
    boolean isHeld = version.objectLockLegalHoldStatus() == ObjectLockLegalHoldStatus.ON;
    Lock lock = new Lock(mode, until, isHeld);
    require(retentions, of(key, id), lock.retention());
    require(holds, of(key, id), lock.hold());
    know(key, id, lock);
  }

  /** Versions of unanswered writes are not known by their ids. */
  private static void require(Ledger<String> ledger, String version, String observed) {
    assertTrue(
        !ledger.keys().contains(version)
            || ledger.explain(version, observed, ledger.now()).isPresent(),
        () -> observed + ", but " + ledger.describe(version));
  }

  @Override
  public void tidyUp() {
    // Uploads are the other workload's.
  }

  @Override
  public String bucket() {
    return bucket;
  }
}
