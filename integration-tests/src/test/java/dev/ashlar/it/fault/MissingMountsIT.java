package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * More drive folders than may be lost are empty at one start, because what belongs there is not
 * mounted. None of them is formatted, and the drives are what they were when they are back.
 */
class MissingMountsIT {
  private static final int PARITY_SHARDS = 2;
  private static final List<Integer> LENGTHS = List.of(100, 4096, 65_537, 3_000_001);

  private final long seed = Seeds.seed("MissingMountsIT");
  private final List<Path> mounted = new ArrayList<>();
  private ServerProcess server;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void start() throws IOException {
    server = ServerProcess.start(ServerSpec.named("missing-mounts"));
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "mounts");
    for (int length : LENGTHS) {
      s3.putObject(
          b -> b.bucket(bucket).key("o/" + length), RequestBody.fromBytes(content(length)));
    }
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      for (int length : LENGTHS) {
        assertEquals(200, client.put("a/" + length, content(length)).status());
        assertEquals(200, client.append("PUT", "a/" + length, length, content(777)).status());
      }
    }
  }

  @AfterEach
  void close() {
    s3.close();
    server.stop();
    mounted.forEach(folder -> Commands.tried("umount", "-l", folder.toString()));
    server.close();
  }

  @LongTest
  void allFoldersAreEmptyAtOneStart() {
    areMissing(6);
  }

  @LongTest
  void oneMoreThanMayBeLostIsEmptyAtOneStart() {
    areMissing(PARITY_SHARDS + 1);
  }

  @Test
  void drivesThatComeBackAreServedWithoutAnotherStart() throws Exception {
    server.stop();
    List<Path> missing = server.driveFolders();
    missing.forEach(MissingMountsIT::moveAway);
    server.startUnready();
    assertNoneIsFormatted(missing);
    missing.forEach(MissingMountsIT::bringBack);
    Await.until("all drives are served", () -> server.anyHealth().contains("\"open\":6,"));
    readAll();
    putAnother();
  }

  /** Up to m are replaced at once, as ever; of those that come after them nothing is lost. */
  @LongTest
  void whatIsReplacedAlreadyCounts() {
    server.stop();
    List<Path> folders = server.driveFolders();
    folders.subList(0, PARITY_SHARDS).forEach(ServerProcess::deleteRecursively);
    folders.subList(PARITY_SHARDS, 4).forEach(MissingMountsIT::moveAway);
    server.startUnready();
    assertTrue(formatted(folders) <= PARITY_SHARDS, server::log);
    server.stop();
    folders.subList(PARITY_SHARDS, 4).forEach(MissingMountsIT::bringBack);
    server.start();
    readAll();
  }

  /** The drives are file systems of their own, and one that is not mounted is never formatted. */
  @Test
  void aFolderThatWasAMountPointIsNotFormatted() throws Exception {
    String refusal = refusalOfMounts();
    assumeTrue(refusal.isEmpty(), refusal);
    server.stop();
    Path folder = server.driveFolders().getFirst();
    for (Path each : server.driveFolders()) {
      mountWithContent(each);
    }
    server.start();
    server.stop();
    Path elsewhere = folder.resolveSibling("elsewhere");
    make(elsewhere);
    Commands.run("mount", "--move", folder.toString(), elsewhere.toString());
    mounted.add(elsewhere);
    server.start();
    assertNoneIsFormatted(List.of(folder));
    assertTrue(server.log().contains("not mounted"), server::log);
    Commands.run("mount", "--move", elsewhere.toString(), folder.toString());
    Await.until("all drives are served", () -> server.anyHealth().contains("\"open\":6,"));
    readAll();
  }

  private void areMissing(int count) {
    server.stop();
    List<Path> missing = server.driveFolders().subList(0, count);
    missing.forEach(MissingMountsIT::moveAway);
    server.startUnready();
    assertNoneIsFormatted(missing);
    assertFails(503, this::putAnother);
    assertTrue(server.anyHealth().contains("\"missing\":[\"" + missing.getFirst()), server::log);
    for (Path folder : missing) {
      assertTrue(server.log().contains(folder + " is empty. "), server::log);
    }
    server.stop();
    missing.forEach(MissingMountsIT::bringBack);
    server.start();
    readAll();
    putAnother();
  }

  private void assertNoneIsFormatted(List<Path> folders) {
    assertEquals(0, formatted(folders), server::log);
  }

  private static long formatted(List<Path> folders) {
    return folders.stream().filter(folder -> Files.exists(folder.resolve("drive"))).count();
  }

  private void putAnother() {
    s3.putObject(b -> b.bucket(bucket).key("another"), RequestBody.fromBytes(content(100_000)));
  }

  private void readAll() {
    for (int length : LENGTHS) {
      assertArrayEquals(content(length), get("o/" + length));
      byte[] appended = get("a/" + length);
      assertEquals(length + 777, appended.length);
      assertArrayEquals(content(length), java.util.Arrays.copyOf(appended, length));
    }
  }

  private byte[] get(String key) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArrayUnsafe();
  }

  private byte[] content(int length) {
    return new Content(seed + length, length).bytes();
  }

  private static Path aside(Path folder) {
    return folder.resolveSibling(folder.getFileName() + ".away");
  }

  private static void moveAway(Path folder) {
    try {
      Files.move(folder, aside(folder));
      Files.createDirectory(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void bringBack(Path folder) {
    ServerProcess.deleteRecursively(folder);
    try {
      Files.move(aside(folder), folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void make(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String refusalOfMounts() {
    Path folder = server.root().resolve("probe");
    make(folder);
    Commands.Ended ended =
        Commands.tried("mount", "-t", "tmpfs", "-o", "size=1m", "probe", folder.toString());
    Commands.tried("umount", folder.toString());
    return ended.code() == 0 ? "" : "mounts are not possible here: " + ended.output();
  }

  /** What the folder has goes to a file system of its own. */
  private void mountWithContent(Path folder) {
    Path before = aside(folder);
    moveAway(folder);
    Commands.run("mount", "-t", "tmpfs", "-o", "size=600m", "disk", folder.toString());
    mounted.add(folder);
    Commands.run("cp", "-a", before + "/.", folder.toString());
  }
}
