package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Parallel;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * One flipped bit in the files of the only metadata folder costs no object and needs no operator.
 */
class RottenMetadataIT {
  /** Enough rows for several blocks of a table: a bit in the middle of the file is in a row. */
  private static final int OBJECTS = 300;

  private static final int CLIENTS = 4;
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("RottenMetadataIT"));
  private ServerProcess server;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void fillAndStop() throws Exception {
    server = ServerProcess.start(ServerSpec.named("rotten-metadata"));
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "rotten");
    forEachObject(this::put);
    server.stop();
  }

  @AfterEach
  void close() {
    s3.close();
    server.close();
  }

  /** First of the checkpoint, while the server is down, then of its tables, while it runs. */
  @Test
  void bitsFlip() throws Exception {
    flipBit(largest("checkpoint-"));
    server.start();
    checkAll();
    server.stop();
    server.start();
    readAll();
    flipBit(largest("live"));
    checkAll();
    server.kill();
    server.start();
    checkAll();
  }

  @LongTest
  void bitsFlipWhileTheServerIsDownAfterTheCheckpointWasCopied() throws Exception {
    server.start();
    awaitCopy();
    server.kill();
    flipBit(largest("checkpoint-"));
    server.start();
    checkAllAfterDamage();
    awaitCopy();
    server.kill();
    flipBit(largest("copy-"));
    server.start();
    checkAllAfterDamage();
  }

  /** Everything is read, before and after restarts, and there is nothing that is left to mend. */
  private void checkAllAfterDamage() throws Exception {
    checkAll();
    server.stop();
    server.start();
    checkAll();
    server.kill();
    server.start();
    checkAll();
  }

  private void checkAll() throws Exception {
    readAll();
    awaitUp();
    IntStream.range(OBJECTS, OBJECTS + 20).forEach(this::put);
  }

  private static void forEachObject(IntConsumer work) throws Exception {
    Parallel.run(
        CLIENTS,
        client -> {
          for (int i = client; i < OBJECTS; i += CLIENTS) {
            work.accept(i);
          }
        });
  }

  private void readAll() throws Exception {
    forEachObject(this::read);
    int listed =
        s3.listObjectsV2Paginator(b -> b.bucket(bucket)).stream()
            .mapToInt(page -> page.contents().size())
            .sum();
    assertTrue(listed >= OBJECTS, listed + " objects are listed");
  }

  /** Refused service is asked for again; any other answer than the content is a loss. */
  private void read(int number) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      try {
        byte[] got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key(number))).asByteArray();
        assertArrayEquals(content(number), got, key(number));
        return;
      } catch (S3Exception e) {
        assertEquals(503, e.statusCode(), () -> key(number) + ": " + e);
        assertTrue(System.nanoTime() < end, () -> key(number) + " stays unreadable: " + e);
        ServerProcess.pause(Duration.ofMillis(100));
      }
    }
  }

  private void put(int number) {
    s3.putObject(b -> b.bucket(bucket).key(key(number)), RequestBody.fromBytes(content(number)));
  }

  private static String key(int number) {
    return String.format("object/%05d", number);
  }

  private static byte[] content(int number) {
    return ("content of " + number).getBytes(StandardCharsets.UTF_8);
  }

  private void awaitUp() throws Exception {
    Await.until("healthy", () -> server.health().contains("\"status\":\"UP\""));
  }

  private void awaitCopy() throws Exception {
    Await.until("a second copy of the checkpoint", () -> !tables("copy-").isEmpty());
  }

  private Path largest(String folderPrefix) throws IOException {
    var tables = tables(folderPrefix);
    assertFalse(tables.isEmpty(), "no tables in " + folderPrefix);
    return tables.stream().max(Comparator.comparingLong(file -> file.toFile().length())).get();
  }

  private List<Path> tables(String folderPrefix) throws IOException {
    try (Stream<Path> files = Files.walk(server.metadataFolders().getFirst())) {
      return files
          .filter(file -> file.getFileName().toString().endsWith(".sst"))
          .filter(file -> folderOf(file).startsWith(folderPrefix))
          .filter(file -> !folderOf(file).endsWith(".new"))
          .toList();
    }
  }

  private static String folderOf(Path file) {
    return Objects.requireNonNull(file.getParent()).getFileName().toString();
  }

  /** Somewhere in the middle, where rows are. */
  private void flipBit(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long size = channel.size();
      long at = size / 4 + random.nextLong(size / 4);
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ (1 << random.nextInt(8)))).rewind();
      channel.write(one, at);
      channel.force(true);
      System.out.println("flipped a bit of byte " + at + " of " + size + " in " + file);
    }
  }
}
