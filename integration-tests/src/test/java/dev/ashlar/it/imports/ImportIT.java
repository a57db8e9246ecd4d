package dev.ashlar.it.imports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.it.imports.Contents.Order;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * {@code ashlar import} between two stores, killed on the way, while the source changes. {@code
 * -Dashlar.import.kills} says how often.
 */
class ImportIT {
  private static final int KILLS = Integer.getInteger("ashlar.import.kills", 1);
  private static final int ROUNDS_MAX = 40;

  @TempDir private Path folder;

  @Test
  void fromAshlar() throws Exception {
    try (ServerProcess server = ServerProcess.start(spec("import-source"));
        Store source = Store.at(server.endpoint())) {
      imports(source, Order.BY_ID);
    }
  }

  @Test
  void fromMinio() throws Exception {
    assumeTrue(Commands.isInstalled("minio"), "no minio on the path: its server is the source");
    int port = freePort();
    ProcessBuilder command =
        new ProcessBuilder(
            "minio",
            "server",
            "--address",
            "127.0.0.1:" + port,
            "--console-address",
            "127.0.0.1:" + freePort(),
            folder.resolve("minio").toString());
    command.environment().put("MINIO_ROOT_USER", ServerProcess.ACCESS_KEY);
    command.environment().put("MINIO_ROOT_PASSWORD", ServerProcess.SECRET_KEY);
    command.environment().put("MINIO_CI_CD", "1"); // drives need not be disks of their own
    Process minio =
        command
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("minio.log").toFile())
            .start();
    try (Store source = Store.at(URI.create("http://127.0.0.1:" + port))) {
      Await.until("MinIO serves", () -> serves(source));
      imports(source, Order.BY_TIME);
    } finally {
      minio.destroy();
      minio.waitFor();
    }
  }

  private static boolean serves(Store store) {
    try {
      store.s3().listBuckets();
      return true;
    } catch (SdkException e) {
      return false;
    }
  }

  private void imports(Store source, Order order) throws Exception {
    SourceData data = new SourceData(source, Seeds.seed("ImportIT"));
    data.fill();
    try (ServerProcess server = ServerProcess.start(spec("import-target"));
        Store target = Store.at(server.endpoint())) {
      int all = SourceData.BUCKETS.stream().mapToInt(bucket -> versions(source, bucket)).sum();
      for (int kill = 1; kill <= KILLS; kill++) {
        killAfter(source, target, all * kill / (KILLS + 1));
      }
      Launch.Ended ended = run(source, target, "s3://");
      assertEquals(0, ended.code(), ended::output);
      requireEqual(source, target, order);

      follow(source, target, data);
      ended =
          run(source, target, "s3://", "--follow", "--until-lag=3600", "--mirror", "--attributes");
      assertEquals(0, ended.code(), ended::output);
      assertTrue(ended.output().contains("Lag: all changes before "), ended::output);
      requireEqual(source, target, order);

      diverge(source, target);
    }
  }

  /** Clients change the source until more than one pass has copied something of it. */
  private void follow(Store source, Store target, SourceData data) throws Exception {
    Path log = folder.resolve("follow.log");
    Process process = begin(source, target, log, "s3://", "--follow", "--pause=0", "--mirror");
    try {
      FutureTask<Void> clients =
          new FutureTask<>(
              () -> {
                for (int round = 0; copyingPasses(log) < 2 && round < ROUNDS_MAX; round++) {
                  data.change(round);
                }
                return null;
              });
      Thread.ofPlatform().start(clients);
      clients.get();
      int passes = passes(log);
      Await.until(
          "a whole pass behind the changes", () -> !process.isAlive() || passes(log) >= passes + 2);
      String said = Files.readString(log);
      assertTrue(process.isAlive(), said);
      assertTrue(copyingPasses(log) > 1, said);
    } finally {
      process.destroyForcibly();
      process.waitFor();
    }
  }

  private static int passes(Path log) throws IOException {
    return (int) Files.readAllLines(log).stream().filter(each -> each.startsWith("Lag: ")).count();
  }

  private static int copyingPasses(Path log) throws IOException {
    return (int)
        Files.readAllLines(log).stream()
            .filter(each -> each.startsWith("Lag: ") && !each.contains(" copied 0 versions"))
            .count();
  }

  /** What somebody else has written to the target stays, and is reported. */
  private void diverge(Store source, Store target) throws Exception {
    Map<String, List<String>> before = Contents.of(target, SourceData.PLAIN, Order.BY_ID);
    String key = before.keySet().iterator().next();
    target
        .s3()
        .putObject(
            r -> r.bucket(SourceData.PLAIN).key(key),
            RequestBody.fromString("written after the switch"));
    Launch.Ended ended = run(source, target, "s3://" + SourceData.PLAIN);
    assertEquals(1, ended.code(), ended::output);
    assertTrue(ended.output().contains(SourceData.PLAIN + "/" + key), ended::output);
    assertEquals(
        "written after the switch",
        target.s3().getObjectAsBytes(r -> r.bucket(SourceData.PLAIN).key(key)).asUtf8String());
  }

  private void killAfter(Store source, Store target, int versions) throws Exception {
    // One at a time: fast enough for the test, slow enough to be there when it is to be killed.
    Path log = folder.resolve("import.log");
    Process process = begin(source, target, log, "s3://", "--parallel=1");
    try {
      Await.until(
          "the import has copied " + versions,
          () ->
              !process.isAlive()
                  || SourceData.BUCKETS.stream().mapToInt(bucket -> versions(target, bucket)).sum()
                      >= versions);
      assertTrue(process.isAlive(), Files.readString(log));
    } finally {
      process.destroyForcibly();
      process.waitFor();
    }
  }

  private static int versions(Store store, String bucket) {
    try {
      var pages = store.s3().listObjectVersionsPaginator(r -> r.bucket(bucket));
      return (int) (pages.versions().stream().count() + pages.deleteMarkers().stream().count());
    } catch (SdkException e) {
      return 0; // not there yet
    }
  }

  private Launch.Ended run(Store source, Store target, String... arguments) {
    return Launch.ended(log -> begin(source, target, log, arguments));
  }

  private static Process begin(Store source, Store target, Path log, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("import"));
    command.addAll(List.of(arguments));
    command.addAll(
        List.of("--from", source.endpoint().toString(), "--to", target.endpoint().toString()));
    return Launch.start(
        command,
        Map.of(
            "ASHLAR_SOURCE_ACCESS_KEY",
            ServerProcess.ACCESS_KEY,
            "ASHLAR_SOURCE_SECRET_KEY",
            ServerProcess.SECRET_KEY,
            "ASHLAR_ACCESS_KEY",
            ServerProcess.ACCESS_KEY,
            "ASHLAR_SECRET_KEY",
            ServerProcess.SECRET_KEY),
        log);
  }

  private static void requireEqual(Store source, Store target, Order order) {
    for (String bucket : SourceData.BUCKETS) {
      assertEquals(
          Contents.of(source, bucket, order), Contents.of(target, bucket, Order.BY_ID), bucket);
    }
    assertEquals(
        source.s3().getBucketTagging(r -> r.bucket(SourceData.PLAIN)).tagSet(),
        target.s3().getBucketTagging(r -> r.bucket(SourceData.PLAIN)).tagSet());
    assertEquals(
        source.s3().getBucketLifecycleConfiguration(r -> r.bucket(SourceData.PLAIN)).rules(),
        target.s3().getBucketLifecycleConfiguration(r -> r.bucket(SourceData.PLAIN)).rules());
  }

  private static ServerSpec spec(String name) {
    return new ServerSpec(name, 3, 1, "2+1", 16 << 10);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
