package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.Tag;

/**
 * Clients that write, tag and delete versions of the same keys of a bucket, and suspend and enable
 * its versioning meanwhile.
 */
final class VersionWorkload implements CrashClients.Workload {
  private static final int KEYS = 16;
  private static final int SOURCES = 2;
  private static final String SOURCE = "source/";
  private static final String TAG = "t";
  private static final String STATUS = "status";

  private final S3Client s3;
  private final String bucket;
  private final VersionLedger ledger = new VersionLedger();
  private final VersionClient client;

  /** The only tag of versions with an id, by key and id. */
  private final Ledger<String> tags = new Ledger<>();

  private final Ledger<BucketVersioningStatus> status = new Ledger<>();
  private final List<Content> sources = new ArrayList<>();

  VersionWorkload(S3Client s3, String bucket, SplittableRandom random) {
    this.s3 = s3;
    this.bucket = bucket;
    this.client = new VersionClient(s3, bucket, ledger);
    setStatus(BucketVersioningStatus.ENABLED);
    for (int i = 0; i < SOURCES; i++) {
      Content content = new Content(random.nextLong(), 1 + i * 40_000);
      var unused = client.put(SOURCE + i, content, put -> {});
      sources.add(content);
    }
  }

  @Override
  public long acknowledgements() {
    return ledger.acknowledgements();
  }

  @Override
  public void step(int thread, SplittableRandom random) {
    String key = "k" + random.nextInt(KEYS);
    int dice = random.nextInt(100);
    if (dice < 34) {
      put(key, random);
    } else if (dice < 46) {
      client.delete(key);
    } else if (dice < 68) {
      deleteVersion(key, random);
    } else if (dice < 74) {
      int source = random.nextInt(SOURCES);
      client.copy(SOURCE + source, sources.get(source), key);
    } else if (dice < 79) {
      client.upload(key, content(random));
    } else if (dice < 87) {
      tag(key, random);
    } else if (dice < 97) {
      ledger.any(key, random).ifPresent(version -> client.check(key, version));
    } else {
      setStatus(
          random.nextBoolean() ? BucketVersioningStatus.ENABLED : BucketVersioningStatus.SUSPENDED);
    }
  }

  /** Mostly small, up to 128 KiB. */
  static Content content(SplittableRandom random) {
    return new Content(random.nextLong(), random.nextInt(1 << random.nextInt(4, 17)));
  }

  private void put(String key, SplittableRandom random) {
    String tag = random.nextInt(3) == 0 ? "" + random.nextInt(1000) : "";
    Optional<String> id =
        client.put(
            key,
            content(random),
            put -> {
              if (!tag.isEmpty()) {
                put.tagging(TAG + "=" + tag);
              }
            });
    if (id.isPresent() && !tag.isEmpty()) {
      tags.settle(of(key, id.get()), tag);
    }
  }

  private static String of(String key, String id) {
    return key + " " + id;
  }

  private void deleteVersion(String key, SplittableRandom random) {
    if (random.nextInt(8) == 0) {
      client.deleteVersion(key, VersionLedger.NULL, false);
    } else {
      ledger.any(key, random).ifPresent(version -> client.deleteVersion(key, version.id(), false));
    }
  }

  private void tag(String key, SplittableRandom random) {
    Optional<VersionLedger.Version> version =
        ledger.any(key, random).filter(it -> it.content() != null);
    if (version.isEmpty()) {
      return;
    }
    String id = version.get().id();
    String value = "" + random.nextInt(1000);
    Ledger<String>.Attempt attempt = tags.begin(of(key, id), value);
    try {
      s3.putObjectTagging(
          b ->
              b.bucket(bucket)
                  .key(key)
                  .versionId(id)
                  .tagging(t -> t.tagSet(Tag.builder().key(TAG).value(value).build())));
    } catch (S3Exception failure) {
      boolean isGone = VersionClient.isRefusal(failure, 404, "NoSuchVersion");
      if (isGone && ledger.mayBeDeleted(key, id)) {
        attempt.refused(of(key, id));
        return;
      }
      throw failure;
    }
    attempt.acknowledged();
  }

  private void setStatus(BucketVersioningStatus wanted) {
    Ledger<BucketVersioningStatus>.Attempt attempt = status.begin(STATUS, wanted);
    s3.putBucketVersioning(b -> b.bucket(bucket).versioningConfiguration(v -> v.status(wanted)));
    attempt.acknowledged();
  }

  @Override
  public VersionClient.Usage checkAll() {
    BucketVersioningStatus observed = s3.getBucketVersioning(b -> b.bucket(bucket)).status();
    assertTrue(
        status.explain(STATUS, observed, status.now()).isPresent(),
        () -> observed + ", but " + status.describe(STATUS));
    status.settle(STATUS, observed);
    return client.checkAll(this::checkTags);
  }

  private void checkTags(String key, GetObjectResponse version) {
    String id = version.versionId();
    if (id == null || id.equals(VersionLedger.NULL)) {
      return;
    }
    List<Tag> all = s3.getObjectTagging(b -> b.bucket(bucket).key(key).versionId(id)).tagSet();
    assertEquals(version.tagCount() == null ? 0 : version.tagCount(), all.size(), of(key, id));
    String observed = all.isEmpty() ? null : all.getFirst().value();
    // Who wrote it with a tag, and was not answered, is not known by its id.
    boolean isKnown = tags.keys().contains(of(key, id));
    assertTrue(
        !isKnown || tags.explain(of(key, id), observed, tags.now()).isPresent(),
        () -> "tag " + observed + ", but " + tags.describe(of(key, id)));
    tags.settle(of(key, id), observed);
  }

  @Override
  public void tidyUp() {
    client.abortUploads();
  }

  @Override
  public String bucket() {
    return bucket;
  }
}
