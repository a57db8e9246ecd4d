package dev.ashlar.it.harness;

import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;

/** Fresh buckets, so that tests on one server do not meet. */
public final class Buckets {
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private Buckets() {}

  public static String name(String purpose) {
    return purpose + "-" + COUNTER.incrementAndGet();
  }

  public static String create(S3Client s3, String purpose) {
    String name = name(purpose);
    s3.createBucket(b -> b.bucket(name));
    return name;
  }

  public static String createVersioned(S3Client s3, String purpose) {
    String name = create(s3, purpose);
    s3.putBucketVersioning(
        b -> b.bucket(name).versioningConfiguration(v -> v.status(BucketVersioningStatus.ENABLED)));
    return name;
  }
}
