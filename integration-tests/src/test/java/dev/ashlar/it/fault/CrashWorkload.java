package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Threads that put, overwrite, copy, delete and read objects of one bucket until the server is
 * gone, and a check that what is there afterwards is what the ledger allows.
 */
final class CrashWorkload {
  static final int THREADS = 4;
  private static final int KEYS = 48;
  private static final int SOURCES = 3;
  private static final int PART_BYTES = 5 << 20;
  private static final String STANDARD = "STANDARD";
  private static final String SEED = "seed";
  private static final String LENGTH = "length";

  private final S3Client s3;
  private final String bucket;
  private final List<String> classes;
  private final Ledger<Content> ledger = new Ledger<>();
  private final ConcurrentLinkedQueue<AssertionError> wrongReads = new ConcurrentLinkedQueue<>();

  CrashWorkload(S3Client s3, String bucket) {
    this(s3, bucket, List.of(STANDARD));
  }

  /**
   * @param classes storage classes; each key has one of them
   */
  CrashWorkload(S3Client s3, String bucket, List<String> classes) {
    this.s3 = s3;
    this.bucket = bucket;
    this.classes = List.copyOf(classes);
  }

  /** Objects with this key have this storage class. */
  private String storageClass(String key) {
    return classes.get(Math.floorMod(key.hashCode(), classes.size()));
  }

  /** Objects that are only read and copied from. */
  void putSources(SplittableRandom random) {
    for (int i = 0; i < SOURCES; i++) {
      put("source/" + i, content(random, 40_000 * i + 1));
    }
  }

  Ledger<Content> ledger() {
    return ledger;
  }

  List<Thread> start(SplittableRandom random) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom own = random.split();
      threads.add(Thread.ofPlatform().name("client-" + i).start(() -> runUntilFailure(own)));
    }
    return threads;
  }

  private void runUntilFailure(SplittableRandom random) {
    try {
      while (true) {
        step(random);
      }
    } catch (SdkException gone) {
      // The server was killed: what was under way stays unanswered.
    } catch (AssertionError wrong) {
      wrongReads.add(wrong);
    }
  }

  private void step(SplittableRandom random) {
    String key = "k" + random.nextInt(KEYS);
    int dice = random.nextInt(100);
    if (dice < 55) {
      put(key, content(random, length(random)));
    } else if (dice < 70) {
      delete(key);
    } else if (dice < 80) {
      copy("source/" + random.nextInt(SOURCES), key);
    } else if (dice < 83) {
      multipart(key, content(random, PART_BYTES + random.nextInt(200_000)));
    } else {
      check(key);
    }
  }

  /** Mostly small, up to 3 MiB. */
  private static int length(SplittableRandom random) {
    return random.nextInt(1 << random.nextInt(4, 22)) * 3 / 2;
  }

  private static Content content(SplittableRandom random, int length) {
    return new Content(random.nextLong(), length);
  }

  private void put(String key, Content content) {
    Ledger<Content>.Attempt attempt = ledger.begin(key, content);
    s3.putObject(
        b -> b.bucket(bucket).key(key).metadata(metadata(content)).storageClass(storageClass(key)),
        RequestBody.fromBytes(content.bytes()));
    attempt.acknowledged();
  }

  private void delete(String key) {
    Ledger<Content>.Attempt attempt = ledger.begin(key, null);
    s3.deleteObject(b -> b.bucket(bucket).key(key));
    attempt.acknowledged();
  }

  private void copy(String source, String key) {
    Content content = content(s3.headObject(b -> b.bucket(bucket).key(source)).metadata());
    Ledger<Content>.Attempt attempt = ledger.begin(key, content);
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey(source)
                .destinationBucket(bucket)
                .destinationKey(key)
                .storageClass(storageClass(key)));
    attempt.acknowledged();
  }

  private void multipart(String key, Content content) {
    String upload =
        s3.createMultipartUpload(
                b ->
                    b.bucket(bucket)
                        .key(key)
                        .metadata(metadata(content))
                        .storageClass(storageClass(key)))
            .uploadId();
    byte[] bytes = content.bytes();
    List<CompletedPart> parts = new ArrayList<>();
    for (int offset = 0; offset < bytes.length; offset += PART_BYTES) {
      int number = parts.size() + 1;
      byte[] part =
          java.util.Arrays.copyOfRange(bytes, offset, Math.min(bytes.length, offset + PART_BYTES));
      var done =
          s3.uploadPart(
              b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(number),
              RequestBody.fromBytes(part));
      parts.add(CompletedPart.builder().partNumber(number).eTag(done.eTag()).build());
    }
    Ledger<Content>.Attempt attempt = ledger.begin(key, content);
    var list = CompletedMultipartUpload.builder().parts(parts).build();
    s3.completeMultipartUpload(
        b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(list));
    attempt.acknowledged();
  }

  /** Reads one key and compares it with what the ledger allows. */
  @Nullable Content check(String key) {
    long began = ledger.now();
    Content observed = read(key);
    if (ledger.explain(key, observed, began).isEmpty()) {
      fail("read " + observed + " at " + began + ", but " + ledger.describe(key));
    }
    return observed;
  }

  private @Nullable Content read(String key) {
    try {
      ResponseBytes<GetObjectResponse> got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key));
      Content content = content(got.response().metadata());
      assertEquals(content.sha256(), Content.sha256(got.asByteArrayUnsafe()), key);
      String shown = Objects.requireNonNullElse(got.response().storageClassAsString(), STANDARD);
      assertEquals(storageClass(key), shown, key);
      return content;
    } catch (NoSuchKeyException absent) {
      return null;
    }
  }

  /** At rest: every key reads as allowed, and the listing names the same objects. */
  void checkAll() {
    wrongReads.forEach(
        wrong -> {
          throw wrong;
        });
    Map<String, Long> present = new TreeMap<>();
    for (String key : ledger.keys()) {
      Content observed = check(key);
      ledger.settle(key, observed);
      if (observed != null) {
        present.put(key, (long) observed.length());
      }
    }
    Map<String, Long> listed = new TreeMap<>();
    s3.listObjectsV2Paginator(b -> b.bucket(bucket).maxKeys(10)).contents().stream()
        .forEach((S3Object object) -> listed.put(object.key(), object.size()));
    assertEquals(present, listed);
    assertTrue(ledger.acknowledgements() > 0, "nothing was acknowledged");
  }

  private static Map<String, String> metadata(Content content) {
    return Map.of(SEED, "" + content.seed(), LENGTH, "" + content.length());
  }

  private static Content content(Map<String, String> metadata) {
    return new Content(Long.parseLong(metadata.get(SEED)), Integer.parseInt(metadata.get(LENGTH)));
  }
}
