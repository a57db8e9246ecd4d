package dev.ashlar.gateway.operation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.fault.SimulationRuns;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.Profile;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random requests for objects that are encrypted in all ways, and not at all, compared with a map.
 * {@code -Dashlar.encryption.seed=N} replays one run, {@code -Dashlar.encryption.runs=N} makes
 * more.
 */
class EncryptionModelTest {
  private static final int FRAME = FrameLayout.PLAIN_BYTES;
  private static final List<String> KEYS = List.of("a", "b", "c", "d", "e", "f");
  private static final int REQUESTS = 60;
  private static final byte[] PLAIN_TEXT = "this must not be seen on a drive".getBytes(UTF_8);

  /** How an object is encrypted. */
  private enum Mode {
    PLAIN,
    MASTER,
    KMS_1,
    KMS_2,
    CUSTOMER_1,
    CUSTOMER_2;

    boolean isOfCustomer() {
      return this == CUSTOMER_1 || this == CUSTOMER_2;
    }

    private int customerKey() {
      return this == CUSTOMER_1 ? 1 : 2;
    }

    /** Asks for it. */
    TestRequest ask(TestRequest request) {
      return switch (this) {
        case PLAIN -> request;
        case MASTER -> TestKeys.withMaster(request);
        case KMS_1 -> TestKeys.withKms(request, TestKeys.KMS_1);
        case KMS_2 -> TestKeys.withKms(request, TestKeys.KMS_2);
        case CUSTOMER_1, CUSTOMER_2 -> open(request);
      };
    }

    /** Brings what opens it. */
    TestRequest open(TestRequest request) {
      return isOfCustomer() ? TestKeys.withCustomer(request, customerKey()) : request;
    }

    /** Brings what opens it as the source of a copy. */
    TestRequest openSource(TestRequest request) {
      return isOfCustomer() ? TestKeys.ofSource(request, customerKey()) : request;
    }

    void assertTold(TestAnswer answer) {
      String algorithm =
          switch (this) {
            case PLAIN, CUSTOMER_1, CUSTOMER_2 -> "";
            case MASTER -> "AES256";
            case KMS_1, KMS_2 -> "aws:kms";
          };
      assertEquals(algorithm, answer.header("x-amz-server-side-encryption"));
      assertEquals(
          isOfCustomer() ? "AES256" : "",
          answer.header("x-amz-server-side-encryption-customer-algorithm"));
    }
  }

  /** An object as it should be. */
  private record Content(Mode mode, byte[] bytes) {
    Content with(byte[] other) {
      return new Content(mode, other);
    }

    Content withMode(Mode other) {
      return new Content(other, bytes);
    }
  }

  /** One run. */
  private static final class Run {
    private final TestS3 s3 = new TestS3();
    private final Map<String, Content> objects = new TreeMap<>();
    private final Map<String, Content> versions = new TreeMap<>(); // of the bucket "old", by id
    private final Random random;
    private int bodies;

    Run(long seed) {
      random = new Random(seed);
    }

    void run() throws Exception {
      s3.ok(200, "PUT", "/bkt");
      s3.ok(200, "PUT", "/old");
      s3.ok(
          200,
          TestS3.request("PUT", "/old?versioning")
              .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
      s3.metadata.submit(
          TestProfiles.add(s3.metadata, "HOT", new Profile(2, 2, Profile.DEFAULT_STRIPE_UNIT), 8));
      for (int i = 0; i < REQUESTS; i++) {
        step();
      }
      for (String key : KEYS) {
        check(key);
      }
      for (Map.Entry<String, Content> version : versions.entrySet()) {
        checkBytes("/old/k?versionId=" + version.getKey(), version.getValue());
      }
      everyPlainTextIsOfAPlainObject();
    }

    private void step() throws Exception {
      String key = any(KEYS);
      switch (random.nextInt(16)) {
        case 0, 1, 2 -> put(key);
        case 3 -> upload(key);
        case 4, 5, 6 -> copy(key, any(KEYS));
        case 7, 8, 9 -> append(key);
        case 10, 11, 12 -> patch(key);
        case 13 -> rename(key, any(KEYS));
        case 14 -> move(key);
        default -> putVersion(key);
      }
      check(key);
    }

    private <T> T any(List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    private Mode anyMode() {
      return any(List.of(Mode.values()));
    }

    private byte[] body(int length) {
      byte[] text = ("%06d ".formatted(bodies++) + new String(PLAIN_TEXT, UTF_8)).getBytes(UTF_8);
      byte[] body = new byte[length];
      for (int i = 0; i < length; i++) {
        body[i] = text[i % text.length];
      }
      return body;
    }

    private int length() {
      return switch (random.nextInt(5)) {
        case 0 -> random.nextInt(3);
        case 1 -> Math.max(0, FRAME * random.nextInt(3) + random.nextInt(3) - 1);
        case 2 -> random.nextInt(300_000);
        default -> random.nextInt(5000);
      };
    }

    private @Nullable Content content(String key) {
      return objects.get(key);
    }

    private static TestRequest put(String uri, byte[] body) {
      return TestS3.request("PUT", uri).body(body);
    }

    // ---- Requests ----

    private void put(String key) throws Exception {
      Mode mode = anyMode();
      byte[] body = body(length());
      TestRequest request = mode.ask(put("/bkt/" + key, body));
      if (random.nextInt(4) == 0) {
        request.header("x-amz-storage-class", "HOT");
      }
      TestAnswer answer = s3.ok(200, request);
      mode.assertTold(answer);
      boolean isMd5 = mode == Mode.PLAIN || mode == Mode.MASTER;
      String md5 = HexFormat.of().formatHex(TestAuthenticator.digest("MD5", body).toByteArray());
      assertEquals(isMd5, answer.header("ETag").equals('"' + md5 + '"'));
      assertTrue(answer.header("ETag").matches("\"[0-9a-f]{32}\""), answer.header("ETag"));
      objects.put(key, new Content(mode, body));
    }

    private void putVersion(String key) throws Exception {
      Content from = content(key);
      Mode mode = anyMode();
      TestRequest request = mode.ask(TestS3.request("PUT", "/old/k"));
      byte[] body;
      if (from == null) {
        body = body(length());
        request.body(body);
      } else {
        body = from.bytes;
        from.mode.openSource(request.header("x-amz-copy-source", "/bkt/" + key));
      }
      String id = s3.ok(200, request).header("x-amz-version-id");
      versions.put(id, new Content(mode, body));
    }

    private void upload(String key) throws Exception {
      Mode mode = anyMode();
      String uri = "/bkt/" + key;
      TestAnswer created = s3.ok(200, mode.ask(TestS3.request("POST", uri + "?uploads")));
      mode.assertTold(created);
      String upload = created.element("UploadId");
      List<byte[]> parts = new ArrayList<>();
      StringBuilder list = new StringBuilder("<CompleteMultipartUpload>");
      int count = random.nextInt(4) == 0 ? 2 : 1;
      for (int number = 1; number <= count; number++) {
        String part = uri + "?partNumber=" + number + "&uploadId=" + upload;
        boolean isLast = number == count;
        Content from = content(any(KEYS));
        String etag;
        if (isLast && from != null && from.bytes.length > 0) {
          etag = copyPart(part, mode, parts);
        } else {
          byte[] body = body(isLast ? length() : TestS3.PART + random.nextInt(FRAME));
          TestAnswer answer = s3.ok(200, mode.open(put(part, body)));
          mode.assertTold(answer);
          etag = answer.header("ETag");
          parts.add(body);
        }
        list.append(
            "<Part><PartNumber>" + number + "</PartNumber><ETag>" + etag + "</ETag></Part>");
      }
      TestRequest complete =
          TestS3.request("POST", uri + "?uploadId=" + upload)
              .body(list + "</CompleteMultipartUpload>");
      mode.assertTold(s3.ok(200, mode.open(complete)));
      ByteArrayOutputStream whole = new ByteArrayOutputStream();
      parts.forEach(whole::writeBytes);
      objects.put(key, new Content(mode, whole.toByteArray()));
      for (int number = 1; number <= count; number++) {
        byte[] part = parts.get(number - 1);
        TestRequest get = TestS3.request("GET", uri + "?partNumber=" + number);
        int status = part.length == 0 ? 200 : 206;
        assertArrayEquals(part, s3.ok(status, mode.open(get)).body());
      }
    }

    /** The ETag of a part that is a range of an object. */
    private String copyPart(String part, Mode mode, List<byte[]> parts) throws Exception {
      String key = any(KEYS.stream().filter(it -> size(it) > 0).toList());
      Content from = Objects.requireNonNull(content(key));
      int begin = random.nextInt(from.bytes.length);
      int end = begin + 1 + random.nextInt(from.bytes.length - begin);
      TestRequest request =
          TestS3.request("PUT", part)
              .header("x-amz-copy-source", "/bkt/" + key)
              .header("x-amz-copy-source-range", "bytes=" + begin + "-" + (end - 1));
      TestAnswer answer = s3.ok(200, from.mode.openSource(mode.open(request)));
      mode.assertTold(answer);
      parts.add(Arrays.copyOfRange(from.bytes, begin, end));
      return answer.element("ETag");
    }

    private int size(String key) {
      Content content = content(key);
      return content == null ? 0 : content.bytes.length;
    }

    private void copy(String from, String to) throws Exception {
      Content source = content(from);
      if (source == null) {
        s3.refused(
            "NoSuchKey",
            TestS3.request("PUT", "/bkt/" + to)
                .header("x-amz-copy-source", "/bkt/" + from)
                .header("x-amz-metadata-directive", "REPLACE"));
        return;
      }
      Mode mode = anyMode();
      TestRequest request =
          TestS3.request("PUT", "/bkt/" + to)
              .header("x-amz-copy-source", "/bkt/" + from)
              .header("x-amz-metadata-directive", "REPLACE");
      boolean isOther = random.nextInt(4) == 0;
      if (isOther) {
        request.header("x-amz-storage-class", random.nextBoolean() ? "HOT" : "STANDARD");
      }
      boolean wasHot = isHot(from);
      boolean getsMd5 =
          mode == Mode.MASTER
              && source.mode != Mode.MASTER
              && !record(from).getSummary().getEtag().contains("-");
      int blobs = s3.store.blobCount();
      TestAnswer answer = s3.ok(200, source.mode.openSource(mode.ask(request)));
      mode.assertTold(answer);
      boolean isRewrapped = (source.mode == Mode.PLAIN) == (mode == Mode.PLAIN);
      if (isRewrapped && !isOther && !wasHot && !getsMd5) {
        assertEquals(blobs, s3.store.blobCount(), "no bytes move");
      }
      objects.put(to, source.withMode(mode));
      check(to);
    }

    private boolean isHot(String key) throws Exception {
      return record(key).getSummary().getStorageClass().equals("HOT");
    }

    private void append(String key) throws Exception {
      Content before = content(key);
      byte[] more = body(1 + length());
      Mode mode = before == null ? anyMode() : before.mode;
      TestRequest request = put("/bkt/" + key + "?append&position=" + size(key), more);
      s3.ok(200, before == null ? mode.ask(request) : mode.open(request));
      byte[] old = before == null ? new byte[0] : before.bytes;
      byte[] after = Arrays.copyOf(old, old.length + more.length);
      System.arraycopy(more, 0, after, old.length, more.length);
      objects.put(key, new Content(mode, after));
    }

    private void patch(String key) throws Exception {
      Content before = content(key);
      if (before == null) {
        return;
      }
      byte[] bytes = body(1 + length());
      int from = random.nextInt(before.bytes.length + 1);
      int to = from + bytes.length;
      TestRequest request =
          TestS3.request("PATCH", "/bkt/" + key)
              .header("Content-Range", "bytes " + from + "-" + (to - 1) + "/*")
              .body(bytes);
      s3.ok(200, before.mode.open(request));
      byte[] after = Arrays.copyOf(before.bytes, Math.max(to, before.bytes.length));
      System.arraycopy(bytes, 0, after, from, bytes.length);
      objects.put(key, before.with(after));
    }

    private void rename(String from, String to) throws Exception {
      Content content = content(from);
      if (content == null || from.equals(to)) {
        return;
      }
      s3.ok(
          200,
          TestS3.request("PUT", "/bkt/" + to + "?renameObject")
              .header("x-amz-rename-source", from));
      objects.remove(from);
      objects.put(to, content);
      check(to);
    }

    /** As operators move an object: nobody needs its key for that. */
    private void move(String key) throws Exception {
      if (content(key) == null) {
        return;
      }
      VersionMover.Follower follower =
          new VersionMover.Follower() {
            @Override
            public ByteRateLimiter rate() {
              return new ByteRateLimiter(0);
            }

            @Override
            public boolean goesOn() {
              return true;
            }

            @Override
            public void moved(long bytes) {}
          };
      String storageClass = isHot(key) ? "" : "HOT";
      new VersionMover(s3.metadata, s3.store)
          .move(
              new VersionMover.Order("bkt", key, VersionRef.getDefaultInstance(), 0, storageClass),
              follower);
      assertEquals(!storageClass.isEmpty(), isHot(key));
    }

    // ---- Comparison ----

    private void check(String key) throws Exception {
      Content content = content(key);
      if (content == null) {
        s3.refused("NoSuchKey", "GET", "/bkt/" + key);
      } else {
        checkBytes("/bkt/" + key, content);
      }
    }

    private void checkBytes(String uri, Content content) throws Exception {
      byte[] bytes = content.bytes;
      Mode mode = content.mode;
      TestAnswer whole = s3.ok(200, mode.open(TestS3.request("GET", uri)));
      assertArrayEquals(bytes, whole.body());
      mode.assertTold(whole);
      TestAnswer head = s3.ok(200, mode.open(TestS3.request("HEAD", uri)));
      assertEquals(Integer.toString(bytes.length), head.header("Content-Length"));
      assertEquals(whole.header("ETag"), head.header("ETag"));
      for (int i = 0; i < 2 && bytes.length > 0; i++) {
        int from = random.nextInt(bytes.length);
        int to = from + 1 + random.nextInt(Math.min(bytes.length - from, 100_000));
        TestRequest range =
            TestS3.request("GET", uri).header("Range", "bytes=" + from + "-" + (to - 1));
        assertArrayEquals(Arrays.copyOfRange(bytes, from, to), s3.ok(206, mode.open(range)).body());
      }
      if (mode.isOfCustomer()) {
        s3.refused("InvalidRequest", "GET", uri);
        s3.refused("InvalidRequest", "HEAD", uri);
        Mode other = mode == Mode.CUSTOMER_1 ? Mode.CUSTOMER_2 : Mode.CUSTOMER_1;
        s3.refused("InvalidArgument", other.open(TestS3.request("GET", uri)));
        s3.refused("InvalidArgument", other.open(TestS3.request("HEAD", uri)));
      } else {
        s3.refused("InvalidRequest", TestKeys.withCustomer(TestS3.request("GET", uri), 1));
      }
    }

    private ObjectRecord record(String key) throws Exception {
      return s3.metadata.object("bkt", key).orElseThrow().object();
    }

    private void everyPlainTextIsOfAPlainObject() throws Exception {
      for (Map.Entry<String, Content> each : objects.entrySet()) {
        ObjectRecord record = record(each.getKey());
        boolean isPlain = each.getValue().mode == Mode.PLAIN;
        assertEquals(isPlain, !EncryptedRuns.isEncrypted(record));
        if (each.getValue().bytes.length >= 3 * PLAIN_TEXT.length) {
          assertEquals(isPlain, hasPlainText(record), each.getKey());
        }
      }
    }

    private boolean hasPlainText(ObjectRecord record) {
      ByteArrayOutputStream stored = new ByteArrayOutputStream();
      for (SliceValue slice : record.getSlicesList()) {
        byte[] blob = s3.store.stored(slice.getBlob());
        stored.write(blob, (int) slice.getOffset(), (int) slice.getLength());
      }
      byte[] bytes = stored.toByteArray();
      for (int at = 0; at + PLAIN_TEXT.length <= bytes.length; at++) {
        if (Arrays.equals(bytes, at, at + PLAIN_TEXT.length, PLAIN_TEXT, 0, PLAIN_TEXT.length)) {
          return true;
        }
      }
      return false;
    }
  }

  @Test
  void randomRequestsDoWhatTheyDoToPlainBytes() {
    SimulationRuns.repeat(
        "EncryptionModelTest", "ashlar.encryption", 12, seed -> new Run(seed).run());
  }
}
