package dev.ashlar.importer;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.ObjectLockLegalHoldStatus;
import software.amazon.awssdk.services.s3.model.Tag;

/** Tags and locks, which change while a version stays the same. */
final class LiveAttributes {
  private final SourceReader source;
  private final Side target;
  private final String bucket;
  private final boolean hasVersions;

  LiveAttributes(SourceReader source, Side target, String bucket, boolean hasVersions) {
    this.source = source;
    this.target = target;
    this.bucket = bucket;
    this.hasVersions = hasVersions;
  }

  /**
   * Makes those of the copy what those of the original are. Whether something was changed.
   *
   * @param differences is told what differs and cannot be changed
   */
  boolean bring(Version original, Version copy, Consumer<String> differences) {
    Attributes here = Attributes.of(source.head(original, null));
    Attributes there =
        Attributes.of(
            target.s3().headObject(r -> r.bucket(bucket).key(copy.key()).versionId(id(copy))));
    there
        .difference(here)
        .ifPresent(what -> differences.accept(what + " (the target's version " + copy.id() + ")"));
    boolean isChanged = bringTags(original, copy, here, there);
    return bringLock(copy, here.lock(), there.lock()) || isChanged;
  }

  String bucket() {
    return bucket;
  }

  /** Whether copies have ids. */
  boolean hasVersions() {
    return hasVersions;
  }

  private @Nullable String id(Version copy) {
    return hasVersions ? copy.id() : null;
  }

  private boolean bringTags(Version original, Version copy, Attributes here, Attributes there) {
    if (here.tags() == 0 && there.tags() == 0) {
      return false;
    }
    List<Tag> tags = source.tags(original);
    List<Tag> present =
        target
            .s3()
            .getObjectTagging(r -> r.bucket(bucket).key(copy.key()).versionId(id(copy)))
            .tagSet();
    if (new HashSet<>(tags).equals(new HashSet<>(present))) {
      return false;
    }
    target
        .s3()
        .putObjectTagging(
            r -> r.bucket(bucket).key(copy.key()).versionId(id(copy)).tagging(t -> t.tagSet(tags)));
    return true;
  }

  private boolean bringLock(Version copy, Attributes.Lock original, Attributes.Lock present) {
    Attributes.Lock wanted = original.at(Instant.now());
    Attributes.Lock found = present.at(Instant.now());
    if (wanted.isHeld() != found.isHeld()) {
      target
          .s3()
          .putObjectLegalHold(
              r ->
                  r.bucket(bucket)
                      .key(copy.key())
                      .versionId(id(copy))
                      .legalHold(
                          h ->
                              h.status(
                                  wanted.isHeld()
                                      ? ObjectLockLegalHoldStatus.ON
                                      : ObjectLockLegalHoldStatus.OFF)));
    }
    boolean isRetained =
        Objects.equals(wanted.mode(), found.mode())
            && Objects.equals(wanted.until(), found.until());
    if (!isRetained) {
      target
          .s3()
          .putObjectRetention(
              r ->
                  r.bucket(bucket)
                      .key(copy.key())
                      .versionId(id(copy))
                      .bypassGovernanceRetention(true)
                      .retention(
                          t ->
                              t.mode(wanted.mode() == null ? null : wanted.mode().toString())
                                  .retainUntilDate(wanted.until())));
    }
    return wanted.isHeld() != found.isHeld() || !isRetained;
  }
}
