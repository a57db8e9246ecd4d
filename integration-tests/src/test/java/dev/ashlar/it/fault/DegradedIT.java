package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Drives that are gone or lie, with profile 4+2: what can be known reads right, the rest says so.
 */
class DegradedIT {
  private static final int DATA_SHARDS = 4;
  private static final int PARITY_SHARDS = 2;
  private static final List<Integer> LENGTHS =
      List.of(
          0, 1, 100, 4096, 5120, 16383, 16384, 16385, 40_000, 65535, 65536, 65537, 200_000,
          3_000_001);

  private final long seed = Seeds.seed("DegradedIT");
  private final SplittableRandom random = new SplittableRandom(seed);
  private ServerProcess server;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void start() {
    server = ServerProcess.start(ServerSpec.named("degraded"));
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "degraded");
    putAll("before");
  }

  @AfterEach
  void close() {
    s3.close();
    server.close();
  }

  @LongTest
  void anyTwoDrivesDeleted() {
    whileDown(PARITY_SHARDS, ServerProcess::deleteRecursively);
    readAll("before");
    putAll("after"); // on the replacements
    readAll("after");
    deleteAndOverwrite();
  }

  @Test
  void anyTwoDrivesUnusable() {
    List<Path> broken = whileDown(PARITY_SHARDS, DriveFolders::replaceByFile);
    readAll("before");
    readRanges("before");
    // Four of six slots are below the durable minimum of k + 1: at once an error, never a hang.
    assertFails(503, this::putOne);
    server.stop();
    DriveFolders.repair(broken.getFirst());
    server.start();
    putAll("after");
    readAll("after");
    readAll("before");
  }

  @LongTest
  void oneDriveUnusableStillWrites() {
    whileDown(PARITY_SHARDS - 1, DriveFolders::replaceByFile);
    putAll("after");
    readAll("before");
    readAll("after");
    deleteAndOverwrite();
  }

  @Test
  void bytesFlippedInTwoDrives() {
    whileDown(PARITY_SHARDS, this::flipBytes);
    readAll("before");
    readRanges("before");
    readAll("before"); // and again, after what the first reads reported
    putAll("after");
    readAll("after");
  }

  @Test
  void threeDrivesGoneIsAnErrorNotAWrongByte() {
    whileDown(PARITY_SHARDS + 1, DriveFolders::replaceForGood);
    for (int length : LENGTHS) {
      Content content = content("before", length);
      try {
        byte[] got = get("before", length);
        assertArrayEquals(content.bytes(), got);
        // One-strip objects lie on m + 1 drives, so some survive; more strips cannot.
        assertTrue(length <= 3 * server.spec().stripeUnit(), length + " bytes of 3 drives");
      } catch (S3Exception lost) {
        assertEquals(503, lost.statusCode(), () -> "" + lost);
      }
    }
    putAll("after"); // and life goes on
    readAll("after");
  }

  @Test
  void folderRemovedWhileRunning() {
    ServerProcess.deleteRecursively(pick(1).getFirst());
    readAll("before");
    putAll("after");
    readAll("after");
    server.kill();
    server.start();
    readAll("before");
    readAll("after");
  }

  private List<Path> whileDown(int drives, Consumer<Path> damage) {
    List<Path> chosen = pick(drives);
    System.out.println("damaged: " + chosen);
    server.stop();
    chosen.forEach(damage);
    server.start();
    return chosen;
  }

  private List<Path> pick(int drives) {
    List<Path> folders = new java.util.ArrayList<>(server.driveFolders());
    while (folders.size() > drives) {
      folders.remove(random.nextInt(folders.size()));
    }
    return folders;
  }

  /** One bit in every 8 KiB that hold anything, of every segment. */
  private void flipBytes(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      List<Path> segments =
          files.filter(file -> file.getFileName().toString().startsWith("segment")).toList();
      assertTrue(!segments.isEmpty(), "no segments in " + folder);
      for (Path segment : segments) {
        flipBytesOf(segment);
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private void flipBytesOf(Path segment) throws IOException {
    try (FileChannel file =
        FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer piece = ByteBuffer.allocate(8192);
      for (long at = 0; at < file.size(); at += piece.capacity()) {
        int read = file.read(piece.clear(), at);
        int victim = random.nextInt(read);
        byte[] bytes = Arrays.copyOf(piece.array(), read);
        if (!Arrays.equals(bytes, new byte[read])) {
          bytes[victim] ^= (byte) (1 << random.nextInt(8));
          file.write(ByteBuffer.wrap(bytes, victim, 1), at + victim);
        }
      }
    }
  }

  private void deleteAndOverwrite() {
    Content content = new Content(seed, 99_999);
    s3.putObject(b -> b.bucket(bucket).key("before/65536"), RequestBody.fromBytes(content.bytes()));
    assertArrayEquals(content.bytes(), get("before", 65536));
    s3.deleteObject(b -> b.bucket(bucket).key("before/65536"));
    assertFails(404, "NoSuchKey", () -> get("before", 65536));
  }

  private void putOne() {
    s3.putObject(b -> b.bucket(bucket).key("one"), RequestBody.fromBytes(new byte[100_000]));
  }

  private void putAll(String prefix) {
    for (int length : LENGTHS) {
      RequestBody body = RequestBody.fromBytes(content(prefix, length).bytes());
      s3.putObject(b -> b.bucket(bucket).key(prefix + "/" + length), body);
    }
  }

  private void readAll(String prefix) {
    for (int length : LENGTHS) {
      String sha256 = Content.sha256(get(prefix, length));
      assertEquals(content(prefix, length).sha256(), sha256, prefix + "/" + length);
    }
  }

  private void readRanges(String prefix) {
    for (int length : LENGTHS) {
      for (int i = 0; length > 0 && i < 2 * DATA_SHARDS; i++) {
        int first = random.nextInt(length);
        int last = Math.min(length - 1, first + random.nextInt(40_000));
        byte[] got =
            s3.getObjectAsBytes(
                    b ->
                        b.bucket(bucket)
                            .key(prefix + "/" + length)
                            .range("bytes=" + first + "-" + last))
                .asByteArrayUnsafe();
        byte[] expected = Arrays.copyOfRange(content(prefix, length).bytes(), first, last + 1);
        assertArrayEquals(expected, got, first + "-" + last + " of " + length);
      }
    }
  }

  private byte[] get(String prefix, int length) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(prefix + "/" + length))
        .asByteArrayUnsafe();
  }

  private Content content(String prefix, int length) {
    return new Content(seed + prefix.hashCode() + length, length);
  }
}
