package dev.ashlar.importer;

import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Makes the objects of a bucket those of the source: the listings of both sides are walked in the
 * order of keys, and what differs is copied. Nothing is remembered from one pass to the next, so a
 * pass that was interrupted is continued by another one.
 */
final class BucketPass {
  /** How often a key is tried that changes all the time. */
  private static final int ATTEMPTS = 5;

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
  private final SourceReader reader;
  private final LiveAttributes attributes;
  private final boolean hasTargetVersions;
  private final boolean isLocking;
  private final AtomicInteger failuresInSuccession = new AtomicInteger();
  private boolean hasRights;
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
    this.isLocking = settings.isLocking();
    this.reader = new SourceReader(source, bucket, settings.hasSourceVersions());
    this.attributes = new LiveAttributes(reader, target, bucket, hasTargetVersions);
    this.copier =
        new Copier(
            reader,
            target,
            attributes,
            settings.isRetaining(),
            tally,
            Clock.systemUTC(),
            workers.parts());
  }

  /**
   * @throws IOException if a side cannot be listed, a right is missing, or almost everything fails
   */
  void run() throws IOException, InterruptedException {
    try {
      KeyPairs pairs =
          new KeyPairs(
              new KeyIterator(source, bucket, options.prefix()),
              new KeyIterator(target, bucket, options.prefix()));
      for (KeyPairs.Pair pair = pairs.next(); pair != null && !isGivenUp; pair = pairs.next()) {
        requireRights(pair.source());
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

  /** Looked at once, with the first version that has content. */
  private void requireRights(KeyVersions key) throws IOException {
    for (Version each : key.versions()) {
      if (!hasRights && !each.isMarker()) {
        reader.requireRights(each, isLocking);
        hasRights = true;
      }
    }
  }

  private void submit(KeyVersions here, KeyVersions there) throws InterruptedException {
    queue.acquire();
    threads.execute(
        () -> {
          try {
            bringOrFail(here, there);
          } finally {
            queue.release();
          }
        });
  }

  private void bringOrFail(KeyVersions here, KeyVersions there) {
    if (isGivenUp) {
      return;
    }
    String name = bucket + "/" + here.key();
    try {
      Optional<String> refusal = bringAsLongAsItChanges(here, there);
      if (refusal.isPresent()) {
        fail(name, refusal.get());
      } else {
        failuresInSuccession.set(0);
      }
    } catch (IOException | SdkException e) {
      fail(name, reason(e));
      if (failuresInSuccession.incrementAndGet() >= FAILURES_IN_SUCCESSION) {
        isGivenUp = true;
      }
    } catch (RuntimeException | Error e) {
      // The thread would end, and nobody would hear of the key.
      fail(name, "unexpected: " + e);
    }
  }

  private void fail(String name, String why) {
    tally.countFailure();
    journal.failed(name, why);
  }

  /** Without the parts of a message that only the SDK's authors need. */
  static String reason(Exception e) {
    if (e instanceof S3Exception answer && answer.awsErrorDetails() != null) {
      return answer.awsErrorDetails().errorCode() + ": " + answer.awsErrorDetails().errorMessage();
    }
    boolean isExpected =
        e instanceof IOException
            || e instanceof SdkException
            || e instanceof SourceChangedException;
    return isExpected ? String.valueOf(e.getMessage()) : "unexpected: " + e;
  }

  /** Why the key is not as at the source, if it is not. */
  private Optional<String> bringAsLongAsItChanges(KeyVersions first, KeyVersions second)
      throws IOException {
    KeyVersions here = first;
    KeyVersions there = second;
    boolean isOurs = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        return bring(here, there, isOurs);
      } catch (RuntimeException e) {
        if (!SourceChangedException.isCauseOf(e)) {
          throw e;
        }
        // What is newest at the target may be our copy of what has been replaced meanwhile.
        isOurs = true;
        KeyVersions now = KeyIterator.of(source, bucket, first.key());
        if (now.equals(here)) {
          return Optional.of("the source lists it, and does not serve it so: " + reason(e));
        }
        here = now;
        there = KeyIterator.of(target, bucket, first.key());
      }
    }
    if (options.isFollowing()) {
      tally.unsettled(); // the next pass looks again
      return Optional.empty();
    }
    return Optional.of("it changes all the time: import again");
  }

  private Optional<String> bring(KeyVersions here, KeyVersions there, boolean isOurs)
      throws IOException {
    KeyPlan plan = KeyPlan.of(here, there, this::isCopy);
    if (!plan.extra().isEmpty() && options.isMirror()) {
      bringAsMirror(here.key());
      return Optional.empty();
    }
    if (plan.isDiverged() && !isOurs) {
      return Optional.of(
          "the target's newest version is not the source's (deleted or replaced there, or written"
              + " by others); --mirror replaces it");
    }
    tally.extra(plan.extra().size());
    carryOut(plan, here, there);
    return Optional.empty();
  }

  /** Deletes are decided by a second look: the listings of both sides are not of one moment. */
  private void bringAsMirror(String key) throws IOException {
    KeyVersions here = KeyIterator.of(source, bucket, key);
    KeyVersions there = KeyIterator.of(target, bucket, key);
    KeyPlan plan = KeyPlan.of(here, there, this::isCopy);
    if (hasTargetVersions || here.versions().isEmpty()) {
      delete(plan.extra()); // else the copy replaces it
    }
    carryOut(plan, here, there);
  }

  private void carryOut(KeyPlan plan, KeyVersions here, KeyVersions there) throws IOException {
    for (int i = 0; i < plan.equal(); i++) {
      tally.equal(here.versions().get(i));
    }
    for (Version version : plan.missing()) {
      copier.copy(version);
    }
    if (options.comparesAttributes()) {
      compareAttributes(here, there, plan);
    }
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

  /** All of them, also behind one that cannot be made the same. */
  private void compareAttributes(KeyVersions here, KeyVersions there, KeyPlan plan)
      throws IOException {
    List<String> differences = new ArrayList<>();
    int matched = 0;
    for (Version each : there.versions()) {
      if (matched < plan.equal() && !plan.extra().contains(each)) {
        Version original = here.versions().get(matched++);
        if (!original.isMarker() && attributes.bring(original, each, differences::add)) {
          tally.changed();
        }
      }
    }
    if (!differences.isEmpty()) {
      throw new IOException(String.join("; ", differences));
    }
  }

  private boolean isCopy(Version original, Version copy) {
    if (copy.isOlderThan(original) || original.isMarker() != copy.isMarker()) {
      return false;
    }
    return original.isMarker()
        || (original.size() == copy.size()
            && (original.etag().equals(copy.etag()) || isNoted(original, copy)));
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
