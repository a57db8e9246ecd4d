package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** Drives that were replaced by mistake, all at once, take their places again. */
class RecallIT {
  private static final List<Integer> LENGTHS = List.of(100, 65_537, 3_000_001);

  private final long seed = Seeds.seed("RecallIT");
  private ServerProcess server;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void replaceAll() throws Exception {
    server = ServerProcess.start(ServerSpec.named("recall"));
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "recall");
    putAll("before");
    server.stop();
    for (Path folder : server.driveFolders()) {
      move(folder, aside(folder, "before"));
      DriveFolders.replaceForGood(folder);
    }
    server.start();
    await("protection is known", health -> health.contains("\"protection\":{\"known\":true"));
    assertFails(503, () -> readAll("before"));
  }

  @AfterEach
  void close() {
    s3.close();
    server.close();
  }

  @Test
  void allThatWereReplacedAreRecalledAtOnce() throws Exception {
    bringBack(server.driveFolders());
    server.startUnready();
    assertEquals(0, open(), server::anyHealth);
    assertTrue(server.log().contains("ashlar admin drive recall"), server::log);
    String all = targets(server.driveFolders());
    assertRefused("there is no drive", recall("/nowhere"));
    assertEquals(200, recall(all).statusCode());
    assertEquals(200, recall(all).statusCode(), "asked for already");
    await("all are served", health -> health.contains("\"open\":6,"));
    readAll("before");
    await("healthy", health -> health.startsWith("{\"status\":\"UP\""));
    readAll("before");
    assertRefused("is there", recall(all));
  }

  /** Killed when it was asked for, and when the drives have begun to take their places. */
  @LongTest
  void aRecallThatIsCutOffIsCarriedOutByTheNextStart() throws Exception {
    bringBack(server.driveFolders());
    server.startUnready();
    assertEquals(200, recall(targets(server.driveFolders())).statusCode());
    server.kill();
    server.startUnready();
    server.kill();
    server.start();
    await("all are served", health -> health.contains("\"open\":6,"));
    readAll("before");
    await("healthy", health -> health.startsWith("{\"status\":\"UP\""));
  }

  /** What would be lost with the replacements is looked at. */
  @LongTest
  void whatWasWrittenToReplacementsIsNotLost() throws Exception {
    putAll("since");
    bringBack(server.driveFolders());
    server.startUnready();
    assertRefused("would not be readable", recall(targets(server.driveFolders())));
    server.stop();
    List<Path> folders = server.driveFolders();
    takeAway(folders.subList(2, 6));
    server.start();
    readAll("since");
    for (int first = 0; first < 6; first += 2) {
      List<Path> two = folders.subList(first, first + 2);
      if (first > 0) {
        server.stop();
        bringBack(two);
        server.start();
      }
      assertEquals(200, recall(targets(two)).statusCode());
      awaitServed(first + two.size());
      awaitRepaired();
      readAll("since");
    }
    readAll("before");
  }

  /** In the place of another one it is refused when it is opened, and stays as it is. */
  @LongTest
  void aDriveOfAnotherPlaceIsNotTaken() throws Exception {
    List<Path> folders = server.driveFolders();
    server.stop();
    move(folders.get(0), aside(folders.get(0), "replacement"));
    move(aside(folders.get(1), "before"), folders.get(0));
    server.start();
    assertEquals(200, recall(targets(folders.subList(0, 1))).statusCode());
    Await.until("the drive is refused", () -> server.log().contains("belongs here"));
    assertEquals(5, open(), server::anyHealth);
  }

  private long open() {
    return Long.parseLong(server.anyHealth().replaceAll(".*\"open\":(\\d+),.*", "$1"));
  }

  /** Until so many drives have come late: metadata knows them by then, and that all is owed. */
  private void awaitServed(int drives) throws Exception {
    Await.until(
        drives + " drives have come",
        () -> server.log().split("is now served as drive", -1).length > drives);
  }

  /** Until no object that can be read lacks a shard. */
  private void awaitRepaired() throws Exception {
    await(
        "repaired",
        health ->
            health.contains("\"protection\":{\"known\":true")
                && !health.contains("\"spare\":0")
                && !health.contains("\"spare\":1"));
  }

  private HttpResponse<String> recall(String targets) {
    return server.administer("drive-recall?target=" + targets);
  }

  private static void assertRefused(String why, HttpResponse<String> answer) {
    assertEquals(409, answer.statusCode(), answer.body());
    assertTrue(answer.body().contains(why), answer.body());
  }

  private static String targets(List<Path> folders) {
    return folders.stream().map(Path::toString).collect(Collectors.joining(","));
  }

  private void await(String what, Predicate<String> condition) throws Exception {
    Await.until(what, () -> condition.test(server.anyHealth()));
  }

  /** The drives as they were before, in the places of the replacements, which are kept. */
  private void bringBack(List<Path> folders) {
    server.kill();
    for (Path folder : folders) {
      move(folder, aside(folder, "replacement"));
      move(aside(folder, "before"), folder);
    }
  }

  private static void takeAway(List<Path> folders) {
    for (Path folder : folders) {
      move(folder, aside(folder, "before"));
      move(aside(folder, "replacement"), folder);
    }
  }

  private static Path aside(Path folder, String what) {
    return folder.resolveSibling(folder.getFileName() + "." + what);
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void putAll(String prefix) {
    for (int length : LENGTHS) {
      s3.putObject(
          b -> b.bucket(bucket).key(prefix + "/" + length),
          RequestBody.fromBytes(content(prefix, length)));
    }
  }

  private void readAll(String prefix) {
    for (int length : LENGTHS) {
      byte[] read =
          s3.getObjectAsBytes(b -> b.bucket(bucket).key(prefix + "/" + length)).asByteArrayUnsafe();
      assertArrayEquals(content(prefix, length), read, prefix + "/" + length);
    }
  }

  private byte[] content(String prefix, int length) {
    return new Content(seed + prefix.hashCode() + length, length).bytes();
  }
}
