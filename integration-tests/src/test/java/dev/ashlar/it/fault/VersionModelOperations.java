package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.fault.VersionModel.Lock;
import dev.ashlar.it.fault.VersionModel.Version;
import dev.ashlar.it.harness.Buckets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ObjectLockLegalHoldStatus;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.ObjectLockRetentionMode;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.S3Object;
import software.amazon.awssdk.services.s3.model.Tag;

/** Random operations on versions of one bucket, each done to the model as well and compared. */
final class VersionModelOperations {
  private static final String MARKER = "marker";
  private static final int KEYS = 8;

  private final S3Client s3;
  private final SplittableRandom random;
  private final String bucket;
  private final boolean hasLock;
  private final VersionModel model = new VersionModel();
  private final Instant began = Instant.now().truncatedTo(ChronoUnit.SECONDS);
  private boolean isEnabled;

  VersionModelOperations(S3Client s3, boolean hasLock, SplittableRandom random) {
    this.s3 = s3;
    this.hasLock = hasLock;
    this.random = random;
    bucket = Buckets.name("version-model");
    s3.createBucket(b -> b.bucket(bucket).objectLockEnabledForBucket(hasLock));
    isEnabled = hasLock;
  }

  void step() {
    String key = key();
    int dice = random.nextInt(100);
    if (dice < 30) {
      put(key);
    } else if (dice < 40) {
      delete(key);
    } else if (dice < 55) {
      deleteVersion(key);
    } else if (dice < 62) {
      copy(key);
    } else if (dice < 66) {
      upload(key);
    } else if (dice < 72) {
      tag(key);
    } else if (dice < 86) {
      lockOrSwitch(key);
    } else {
      read(key);
    }
  }

  private void lockOrSwitch(String key) {
    if (hasLock) {
      if (random.nextBoolean()) {
        retain(key);
      } else {
        hold(key);
      }
    } else if (random.nextInt(3) == 0) {
      setVersioning(random.nextInt(3) > 0);
    }
  }

  private String key() {
    return (random.nextBoolean() ? "a/" : "") + "k" + random.nextInt(KEYS / 2);
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(1 << random.nextInt(1, 16))];
    random.nextBytes(bytes);
    return bytes;
  }

  private @Nullable Version any(String key) {
    List<Version> all = model.versions(key);
    return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
  }

  private Instant until(int years) {
    return began.plus(365L * years, ChronoUnit.DAYS);
  }

  private void setVersioning(boolean enabled) {
    s3.putBucketVersioning(
        b ->
            b.bucket(bucket)
                .versioningConfiguration(
                    v ->
                        v.status(
                            enabled
                                ? BucketVersioningStatus.ENABLED
                                : BucketVersioningStatus.SUSPENDED)));
    isEnabled = enabled;
    isVersioned = true;
  }

  private boolean isVersioned;

  private boolean keepsVersions() {
    return isVersioned || hasLock;
  }

  // ---- Writes ----

  private Lock randomLock() {
    if (!hasLock || random.nextBoolean()) {
      return Lock.NONE;
    }
    // Few in compliance mode: nothing deletes them.
    String mode = random.nextInt(8) == 0 ? "COMPLIANCE" : random.nextBoolean() ? "GOVERNANCE" : "";
    return new Lock(mode, mode.isEmpty() ? 0 : 1 + random.nextInt(5), random.nextInt(3) == 0);
  }

  private void put(String key) {
    Lock lock = randomLock();
    byte[] body = bytes();
    Map<String, String> tags = random.nextInt(4) == 0 ? Map.of("t", "put") : Map.of();
    String id =
        s3.putObject(
                b -> {
                  b.bucket(bucket).key(key);
                  if (!lock.mode().isEmpty()) {
                    b.objectLockMode(ObjectLockMode.fromValue(lock.mode()));
                    b.objectLockRetainUntilDate(until(lock.years()));
                  }
                  if (lock.isHeld()) {
                    b.objectLockLegalHoldStatus(ObjectLockLegalHoldStatus.ON);
                  }
                  tags.forEach((name, value) -> b.tagging(name + "=" + value));
                },
                RequestBody.fromBytes(body))
            .versionId();
    written(key, id, body, lock, tags);
  }

  private void written(
      String key, @Nullable String id, byte[] body, Lock lock, Map<String, String> tags) {
    assertEquals(isEnabled, id != null && !id.equals(VersionModel.NULL), key + " " + id);
    String known = id == null ? VersionModel.NULL : id;
    model.add(key, new Version(known, body, lock, tags));
  }

  private void copy(String key) {
    String source = key();
    Version version = any(source);
    if (version == null || version.body() == null || (source.equals(key) && !keepsVersions())) {
      return;
    }
    String id =
        s3.copyObject(
                b ->
                    b.sourceBucket(bucket)
                        .sourceKey(source)
                        .sourceVersionId(version.id())
                        .destinationBucket(bucket)
                        .destinationKey(key))
            .versionId();
    written(key, id, version.body(), Lock.NONE, version.tags());
  }

  private void upload(String key) {
    byte[] body = bytes();
    String upload = s3.createMultipartUpload(b -> b.bucket(bucket).key(key)).uploadId();
    String eTag =
        s3.uploadPart(
                b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(1),
                RequestBody.fromBytes(body))
            .eTag();
    if (random.nextInt(4) == 0) {
      s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(upload));
      return;
    }
    CompletedPart part = CompletedPart.builder().partNumber(1).eTag(eTag).build();
    String id =
        s3.completeMultipartUpload(
                b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(m -> m.parts(part)))
            .versionId();
    written(key, id, body, Lock.NONE, Map.of());
  }

  private void delete(String key) {
    var answer = s3.deleteObject(b -> b.bucket(bucket).key(key));
    if (!keepsVersions()) {
      model.versions(key).clear();
      return;
    }
    assertEquals(true, answer.deleteMarker(), key);
    assertEquals(!isEnabled, answer.versionId().equals(VersionModel.NULL), key);
    model.add(key, new Version(answer.versionId(), null, Lock.NONE, Map.of()));
  }

  private void deleteVersion(String key) {
    Version version = any(key);
    if (version == null) {
      return;
    }
    boolean bypasses = random.nextInt(3) > 0;
    Runnable request =
        () ->
            s3.deleteObject(
                b -> {
                  b.bucket(bucket).key(key).versionId(version.id());
                  if (bypasses) {
                    b.bypassGovernanceRetention(true);
                  }
                });
    if (version.lock().isDeletable(bypasses)) {
      request.run();
      model.remove(key, version.id());
    } else {
      assertFails(403, "AccessDenied", request);
    }
  }

  // ---- Facts ----

  private void tag(String key) {
    Version version = any(key);
    if (version == null || version.isMarker()) {
      return;
    }
    Map<String, String> tags = Map.of("t", "" + random.nextInt(100));
    Tag tag = Tag.builder().key("t").value(tags.get("t")).build();
    s3.putObjectTagging(
        b -> b.bucket(bucket).key(key).versionId(version.id()).tagging(t -> t.tagSet(tag)));
    model.change(key, version.id(), it -> it.with(tags));
  }

  private void retain(String key) {
    Version version = any(key);
    if (version == null || version.isMarker()) {
      return;
    }
    Lock present = version.lock();
    int years = 1 + random.nextInt(6);
    boolean bypasses = random.nextBoolean();
    String mode = random.nextInt(8) == 0 ? "COMPLIANCE" : "GOVERNANCE";
    Runnable request =
        () ->
            s3.putObjectRetention(
                b -> {
                  b.bucket(bucket).key(key).versionId(version.id());
                  b.retention(
                      r ->
                          r.mode(ObjectLockRetentionMode.fromValue(mode))
                              .retainUntilDate(until(years)));
                  if (bypasses) {
                    b.bypassGovernanceRetention(true);
                  }
                });
    boolean isExtended = mode.equals(present.mode()) && years >= present.years();
    boolean isBypassed = present.mode().equals("GOVERNANCE") && bypasses;
    if (present.mode().isEmpty() || isExtended || isBypassed) {
      request.run();
      Lock lock = new Lock(mode, years, present.isHeld());
      model.change(key, version.id(), it -> it.with(lock));
    } else {
      assertFails(403, "AccessDenied", request);
    }
  }

  private void hold(String key) {
    Version version = any(key);
    if (version == null || version.isMarker()) {
      return;
    }
    boolean isOn = random.nextInt(3) == 0;
    s3.putObjectLegalHold(
        b ->
            b.bucket(bucket)
                .key(key)
                .versionId(version.id())
                .legalHold(
                    h ->
                        h.status(
                            isOn ? ObjectLockLegalHoldStatus.ON : ObjectLockLegalHoldStatus.OFF)));
    Lock lock = new Lock(version.lock().mode(), version.lock().years(), isOn);
    model.change(key, version.id(), it -> it.with(lock));
  }

  // ---- Comparison ----

  private void read(String key) {
    Version present = model.present(key).orElse(null);
    if (present == null) {
      assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key(key)));
    } else {
      byte[] body = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArrayUnsafe();
      assertArrayEquals(present.body(), body, key);
    }
    Version version = any(key);
    if (version != null) {
      read(key, version);
    }
  }

  private void read(String key, Version version) {
    if (version.isMarker()) {
      assertFails(
          405,
          "MethodNotAllowed",
          () -> s3.getObject(b -> b.bucket(bucket).key(key).versionId(version.id())));
      return;
    }
    var got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).versionId(version.id()));
    assertArrayEquals(version.body(), got.asByteArrayUnsafe(), key);
    var facts = got.response();
    String mode = facts.objectLockMode() == null ? "" : facts.objectLockModeAsString();
    assertEquals(version.lock().mode(), mode, key);
    if (!mode.isEmpty()) {
      assertEquals(until(version.lock().years()), facts.objectLockRetainUntilDate(), key);
    }
    boolean isHeld = facts.objectLockLegalHoldStatus() == ObjectLockLegalHoldStatus.ON;
    assertEquals(version.lock().isHeld(), isHeld, key);
    Map<String, String> tags = new TreeMap<>();
    s3.getObjectTagging(b -> b.bucket(bucket).key(key).versionId(version.id()))
        .tagSet()
        .forEach(tag -> tags.put(tag.key(), tag.value()));
    assertEquals(version.tags(), tags, key);
  }

  /** Everything the model holds is there, and nothing else. */
  void compareAll() {
    List<String> present =
        model.keys().stream().filter(key -> model.present(key).isPresent()).toList();
    List<String> listed =
        s3.listObjectsV2Paginator(b -> b.bucket(bucket).maxKeys(3)).contents().stream()
            .map(S3Object::key)
            .toList();
    assertEquals(present, listed);
    compareListing();
    for (String key : model.keys()) {
      read(key);
      model.versions(key).forEach(version -> read(key, version));
    }
  }

  /** The SDK keeps versions and markers apart, so each are compared with those of the model. */
  private void compareListing() {
    List<String> versions = new ArrayList<>();
    List<String> markers = new ArrayList<>();
    for (ListObjectVersionsResponse page :
        s3.listObjectVersionsPaginator(b -> b.bucket(bucket).maxKeys(7))) {
      for (ObjectVersion it : page.versions()) {
        versions.add(row(it.key(), it.versionId(), it.isLatest(), "" + it.size()));
      }
      for (DeleteMarkerEntry it : page.deleteMarkers()) {
        markers.add(row(it.key(), it.versionId(), it.isLatest(), MARKER));
      }
    }
    assertEquals(expected(false), versions);
    assertEquals(expected(true), markers);
  }

  private static String row(String key, String id, boolean isLatest, String what) {
    return key + " " + id + " " + isLatest + " " + what;
  }

  private List<String> expected(boolean markers) {
    List<String> rows = new ArrayList<>();
    for (String key : model.keys()) {
      for (Version version : model.versions(key)) {
        if (version.isMarker() == markers) {
          boolean isLatest = version.id().equals(model.versions(key).getFirst().id());
          String what = markers ? MARKER : "" + Objects.requireNonNull(version.body()).length;
          rows.add(row(key, version.id(), isLatest, what));
        }
      }
    }
    return rows;
  }
}
