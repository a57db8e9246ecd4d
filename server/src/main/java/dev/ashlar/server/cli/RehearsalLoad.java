package dev.ashlar.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a rehearsal: some of each kind that clients send often, and most with small
 * objects, as their cost is the server's own code.
 */
final class RehearsalLoad {
  private static final String BUCKET = "/rehearsal";
  private static final int CLIENTS = 8;
  private static final int SMALL_OF_ROUND = 12;
  private static final int PARTS_EVERY = 16;
  private static final int APPENDS_MAX = 64;
  private static final byte[] NOTHING = new byte[0];
  private static final byte[] SMALL = new byte[4 << 10];
  private static final byte[] MIDDLE = new byte[100_000];
  private static final byte[] LARGE = new byte[1 << 20];

  /** The least that a part may have that is not the last. */
  private static final byte[] PART = new byte[5 << 20];

  private final RehearsalClient s3;
  private final long endNanos;

  private RehearsalLoad(RehearsalClient s3, Duration time) {
    this.s3 = s3;
    endNanos = System.nanoTime() + time.toNanos();
  }

  /** Makes a bucket, and returns when all clients have ended. */
  static void run(RehearsalClient s3, Duration time) throws Exception {
    s3.send("PUT", BUCKET, "", NOTHING);
    RehearsalLoad load = new RehearsalLoad(s3, time);
    List<Future<@Nullable Void>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      for (int number = 0; number < CLIENTS; number++) {
        Client client = load.new Client(BUCKET + "/client-" + number + "/");
        running.add(threads.submit(client::work));
      }
    }
    for (Future<?> one : running) {
      one.get();
    }
  }

  /** One that sends one request after the other. */
  private final class Client {
    private final String prefix;
    private long loggedBytes;

    Client(String prefix) {
      this.prefix = prefix;
    }

    @Nullable Void work() throws IOException {
      for (int round = 0; System.nanoTime() < endNanos; round++) {
        small(prefix + round);
        changes(round);
        large(round % 4 == 0 ? LARGE : MIDDLE);
        if (round % PARTS_EVERY == 0) {
          parts();
        }
        s3.send("GET", BUCKET, "list-type=2&max-keys=20", NOTHING);
      }
      return null;
    }

    /** Leaves the objects. */
    private void small(String key) throws IOException {
      for (int i = 0; i < SMALL_OF_ROUND; i++) {
        if (i % 2 == 0) {
          s3.send("PUT", key + "-" + i, "", SMALL);
        } else {
          s3.putInChunks(key + "-" + i, "", SMALL);
        }
        s3.send("GET", key + "-" + i, "", NOTHING);
      }
      s3.send("HEAD", key + "-0", "", NOTHING);
      s3.send("GET", key + "-1", "", Map.of("range", "bytes=1000-2999"), NOTHING);
    }

    private void changes(int round) throws IOException {
      String log = prefix + "log";
      loggedBytes = round % APPENDS_MAX == 0 ? 0 : loggedBytes;
      if (loggedBytes == 0) {
        s3.send("PUT", log, "", NOTHING);
      }
      String offset = Long.toString(loggedBytes);
      s3.send("PUT", log, "", Map.of("x-amz-write-offset-bytes", offset), SMALL);
      loggedBytes += SMALL.length;
      s3.send("PATCH", log, "", Map.of("content-range", "bytes 0-4095/*"), SMALL);
      s3.send("GET", log, "", Map.of("range", "bytes=-4096"), NOTHING);
    }

    private void large(byte[] content) throws IOException {
      String key = prefix + "removed";
      s3.putInChunks(key, "", content);
      s3.send("HEAD", key, "", NOTHING);
      s3.send("GET", key, "", NOTHING);
      s3.send("GET", key, "", Map.of("range", "bytes=50000-54095"), NOTHING);
      s3.send("DELETE", key, "", NOTHING);
    }

    private void parts() throws IOException {
      String key = prefix + "parts";
      String begun = new String(s3.send("POST", key, "uploads=", NOTHING), UTF_8);
      String upload = begun.replaceFirst("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
      StringBuilder parts = new StringBuilder("<CompleteMultipartUpload>");
      int number = 0;
      for (byte[] part : new byte[][] {PART, SMALL}) {
        number++;
        s3.putInChunks(key, "partNumber=" + number + "&uploadId=" + upload, part);
        parts.append("<Part><PartNumber>" + number + "</PartNumber>");
        parts.append("<ETag>" + md5(part) + "</ETag></Part>");
      }
      parts.append("</CompleteMultipartUpload>");
      s3.send("POST", key, "uploadId=" + upload, parts.toString().getBytes(UTF_8));
      s3.send("DELETE", key, "", NOTHING);
    }
  }

  private static String md5(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
