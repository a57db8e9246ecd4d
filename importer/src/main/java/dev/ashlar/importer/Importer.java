package dev.ashlar.importer;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.Bucket;

/**
 * Copies buckets from a source to a target. Each pass compares everything and copies what differs,
 * so that the first one copies all, and later ones what has changed meanwhile.
 */
public final class Importer implements AutoCloseable {
  private final Side source;
  private final Side target;
  private final Journal journal;
  private final ImportOptions options;
  private final Workers workers;
  private final SettingsRule rule;
  private volatile Tally tally = new Tally();
  private boolean hasPassed;

  public Importer(Side source, Side target, ImportOptions options, Journal journal) {
    this.source = source;
    this.target = target;
    this.options = options;
    this.journal = journal;
    this.workers = Workers.of(options.parallel());
    this.rule = new SettingsRule(options, journal);
  }

  /** Of the pass that runs, or has run last. */
  public Tally tally() {
    return tally;
  }

  /** Compares and copies everything once. What fails is in the tally. */
  public Tally pass() throws InterruptedException {
    Tally current = new Tally();
    tally = current;
    List<String> buckets = buckets(current);
    // Further passes copy little: they need not list the source twice.
    Thread census = hasPassed ? null : census(buckets, current);
    hasPassed = true;
    for (String bucket : buckets) {
      bring(bucket, current);
    }
    if (census != null) {
      census.interrupt(); // it may be behind where everything was equal
      census.join();
    }
    return current;
  }

  private Thread census(List<String> buckets, Tally current) {
    return Thread.ofPlatform().daemon().name("import-census").start(() -> count(buckets, current));
  }

  private List<String> buckets(Tally current) {
    if (!options.buckets().isEmpty()) {
      return options.buckets();
    }
    try {
      return source.s3().listBuckets().buckets().stream().map(Bucket::name).toList();
    } catch (SdkException e) {
      fail("all buckets", "the source does not list them: " + BucketPass.reason(e), current);
      return List.of();
    }
  }

  private void bring(String bucket, Tally current) throws InterruptedException {
    try {
      BucketSettings settings = BucketSettings.read(source, target, bucket, rule);
      settings.prepare();
      long before = current.failures() + current.unsettledKeys();
      new BucketPass(source, target, settings, options, current, journal, workers).run();
      settings.finish(before == current.failures() + current.unsettledKeys());
      new BucketDocuments(source, target, bucket, current, journal, rule).bring();
    } catch (IOException | RuntimeException e) {
      fail(bucket, BucketPass.reason(e), current);
    }
  }

  private void fail(String bucket, String why, Tally current) {
    current.countFailure();
    journal.failed(bucket, why);
  }

  /** Only for the time that is left; what cannot be listed is reported where it is copied. */
  private void count(List<String> buckets, Tally current) {
    try {
      for (String bucket : buckets) {
        KeyIterator keys = new KeyIterator(source, bucket, options.prefix());
        for (@Nullable KeyVersions key = keys.next(); key != null; key = keys.next()) {
          current.found(key);
        }
      }
      current.allFound();
    } catch (IOException | RuntimeException e) {
      return;
    }
  }

  @Override
  public void close() {
    workers.close();
  }
}
