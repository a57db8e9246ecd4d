package dev.ashlar.importer;

import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Makes the objects of a bucket those of the source: the listings of both sides are walked in the
 * order of keys, and what differs is copied. Nothing is remembered from one pass to the next, so a
 * pass that was interrupted is continued by another one.
 */
final class BucketPass {
  /** How often a key is looked at again that changes all the time. */
  private static final int LOOKS = 5;

  private static final int FAILURES_IN_SUCCESSION = 100;

  private final Side source;
  private final Side target;
  private final String bucket;
  private final ImportOptions options;
  private final Tally tally;
  private final Journal journal;
  private final ExecutorService threads;
  private final Semaphore queue;
  private final Copier copier;
  private final LiveAttributes attributes;
  private final boolean hasTargetVersions;
  private volatile boolean isGivenUp;

  BucketPass(
      Side source,
      Side target,
      BucketSettings settings,
      ImportOptions options,
      Tally tally,
      Journal journal,
      Workers workers) {
    this.source = source;
    this.target = target;
    this.bucket = settings.bucket();
    this.options = options;
    this.tally = tally;
    this.journal = journal;
    this.threads = workers.objects();
    this.queue = new Semaphore(2 * options.parallel());
    this.hasTargetVersions = settings.hasTargetVersions();
    SourceReader reader = new SourceReader(source, bucket, settings.hasSourceVersions());
    this.copier = new Copier(reader, target, bucket, tally, Clock.systemUTC(), workers.parts());
    this.attributes = new LiveAttributes(reader, target, bucket, hasTargetVersions);
  }

  /**
   * @throws IOException if a side cannot be listed, or almost everything fails
   */
  void run() throws IOException, InterruptedException {
    try {
      KeyPairs pairs =
          new KeyPairs(
              new KeyIterator(source, bucket, options.prefix()),
              new KeyIterator(target, bucket, options.prefix()));
      for (KeyPairs.Pair pair = pairs.next(); pair != null && !isGivenUp; pair = pairs.next()) {
        submit(pair.source(), pair.target());
      }
    } finally {
      queue.acquire(2 * options.parallel());
    }
    if (isGivenUp) {
      throw new IOException(
          FAILURES_IN_SUCCESSION + " failures in succession: see the messages above");
    }
  }

  private void submit(KeyVersions here, KeyVersions there) throws InterruptedException {
    queue.acquire();
    threads.execute(
        () -> {
          try {
            bring(here, there);
          } finally {
            queue.release();
          }
        });
  }

  private void bring(KeyVersions here, KeyVersions there) {
    if (isGivenUp) {
      return;
    }
    String name = bucket + "/" + here.key();
    try {
      Optional<String> refusal = bringAsLongAsItChanges(here, there);
      refusal.ifPresent(why -> fail(name, why));
    } catch (IOException e) {
      fail(name, String.valueOf(e.getMessage()));
    } catch (SdkException e) {
      fail(name, reason(e));
    }
  }

  private void fail(String name, String why) {
    journal.failed(name, why);
    if (tally.failed() >= FAILURES_IN_SUCCESSION) {
      isGivenUp = true;
    }
  }

  /** Without the parts of a message that only the SDK's authors need. */
  static String reason(SdkException e) {
    return e instanceof S3Exception answer && answer.awsErrorDetails() != null
        ? answer.awsErrorDetails().errorCode() + ": " + answer.awsErrorDetails().errorMessage()
        : String.valueOf(e.getMessage());
  }

  /** Why the key is not as at the source, if it is not. */
  private Optional<String> bringAsLongAsItChanges(KeyVersions first, KeyVersions second)
      throws IOException {
    KeyVersions here = first;
    KeyVersions there = second;
    boolean isOurs = false;
    for (int look = 0; look < LOOKS; look++) {
      try {
        return bring(here, there, isOurs);
      } catch (RuntimeException e) {
        if (!SourceChangedException.isCauseOf(e)) {
          throw e;
        }
        // What is newest at the target may be our copy of what has been replaced meanwhile.
        isOurs = true;
        here = KeyIterator.of(source, bucket, first.key());
        there = KeyIterator.of(target, bucket, first.key());
      }
    }
    return options.isFollowing()
        ? Optional.empty() // the next pass looks again
        : Optional.of("it changes all the time: import again");
  }

  private Optional<String> bring(KeyVersions here, KeyVersions there, boolean isOurs)
      throws IOException {
    KeyPlan plan = KeyPlan.of(here, there, this::isCopy);
    if (!plan.extra().isEmpty() && options.isMirror()) {
      return bringAsMirror(here.key());
    }
    if (plan.isDiverged() && !isOurs) {
      return Optional.of(
          "the target has something newer that the source does not have; --mirror replaces it");
    }
    tally.extra(plan.extra().size());
    return bring(here, there, plan);
  }

  /** Deletes are decided by a second look: the listings of both sides are not of one moment. */
  private Optional<String> bringAsMirror(String key) throws IOException {
    KeyVersions here = KeyIterator.of(source, bucket, key);
    KeyVersions there = KeyIterator.of(target, bucket, key);
    KeyPlan plan = KeyPlan.of(here, there, this::isCopy);
    if (hasTargetVersions || here.versions().isEmpty()) {
      delete(plan.extra()); // else the copy replaces it
    }
    return bring(here, there, plan);
  }

  private Optional<String> bring(KeyVersions here, KeyVersions there, KeyPlan plan)
      throws IOException {
    for (int i = 0; i < plan.equal(); i++) {
      tally.equal(here.versions().get(i));
    }
    if (options.comparesAttributes()) {
      compareAttributes(here, there, plan);
    }
    for (Version version : plan.missing()) {
      copier.copy(version);
    }
    return Optional.empty();
  }

  private void delete(List<Version> extra) {
    for (Version each : extra) {
      target
          .s3()
          .deleteObject(
              r ->
                  r.bucket(bucket).key(each.key()).versionId(hasTargetVersions ? each.id() : null));
      tally.deleted();
    }
  }

  private void compareAttributes(KeyVersions here, KeyVersions there, KeyPlan plan)
      throws IOException {
    int matched = 0;
    for (Version each : there.versions()) {
      if (matched < plan.equal() && !plan.extra().contains(each)) {
        Version original = here.versions().get(matched++);
        if (!original.isMarker() && attributes.bring(original, each)) {
          tally.changed();
        }
      }
    }
  }

  private boolean isCopy(Version original, Version copy) {
    if (original.isMarker() || copy.isMarker()) {
      return original.isMarker() && copy.isMarker();
    }
    boolean isOlder = original.isReplaceable() && copy.modified().isBefore(original.modified());
    return original.size() == copy.size()
        && !isOlder
        && (original.etag().equals(copy.etag()) || isNoted(original, copy));
  }

  /** Whether the copy names the original's ETag in its metadata. */
  private boolean isNoted(Version original, Version copy) {
    HeadObjectResponse head =
        target
            .s3()
            .headObject(
                r ->
                    r.bucket(bucket)
                        .key(copy.key())
                        .versionId(hasTargetVersions ? copy.id() : null));
    return original.etag().equals(head.metadata().get(Attributes.IMPORTED_ETAG));
  }
}
