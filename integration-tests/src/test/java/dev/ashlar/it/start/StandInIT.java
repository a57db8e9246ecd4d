package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.ForeignStart;
import io.minio.BucketExistsArgs;
import io.minio.GetObjectArgs;
import io.minio.MakeBucketArgs;
import io.minio.MinioClient;
import io.minio.PutObjectArgs;
import io.minio.RemoveObjectArgs;
import io.minio.StatObjectArgs;
import io.minio.UploadObjectArgs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands, environments and requests that were written for MinIO. */
class StandInIT {
  private static final String USER = "testuser";
  private static final String PASSWORD = "testpassword";

  @TempDir private Path folder = Path.of("");

  private int port;
  private int console;
  private URI s3 = URI.create("/");

  @BeforeEach
  void choosePorts() throws IOException {
    port = ForeignStart.freePort();
    console = ForeignStart.freePort();
    s3 = URI.create("http://127.0.0.1:" + port);
  }

  /** On this machine's loopback addresses, as all addresses are in a container. */
  private ForeignStart start(Map<String, String> environment, String... arguments)
      throws Exception {
    Map<String, String> all = new HashMap<>(environment);
    all.put("MINIO_ADDRESS", "127.0.0.1:" + port);
    List<String> command = new ArrayList<>(List.of("server"));
    command.addAll(List.of(arguments));
    return new ForeignStart(List.of(), command, all, s3, folder.resolve("log"));
  }

  private static Map<String, String> credentials() {
    return Map.of("MINIO_ROOT_USER", USER, "MINIO_ROOT_PASSWORD", PASSWORD);
  }

  private MinioClient client() {
    return MinioClient.builder().endpoint(s3.toString()).credentials(USER, PASSWORD).build();
  }

  /** What Testcontainers' module for MinIO starts and waits for, and what its test then does. */
  @Test
  void testcontainersFindsWhatItExpects() throws Exception {
    String data = folder.resolve("data").toString();
    Map<String, String> environment = new HashMap<>(credentials());
    environment.put("MINIO_KMS_AUTO_ENCRYPTION", "on");
    environment.put("MINIO_KMS_KES_ENDPOINT", "https://127.0.0.1:7373");
    try (ForeignStart server = start(environment, "--console-address", ":" + console, data)) {
      assertEquals(200, server.status("GET", s3.resolve("/minio/health/live")));
      server.awaitSaid("1 drive, 1+0: NOTHING IS PROTECTED");
      server.awaitSaid("access key testuser, from MINIO_ROOT_USER in the environment");
      server.awaitSaid("--listen 127.0.0.1:" + port + ", from MINIO_ADDRESS");
      server.awaitSaid("--management-listen 127.0.0.1:" + console + ", from --console-address");
      server.awaitSaid(
          "--default-encryption AES256, from MINIO_KMS_AUTO_ENCRYPTION in the environment");
      String said = server.said();
      String warning = "mean something to MinIO and nothing here: MINIO_KMS_KES_ENDPOINT. ";
      assertEquals(2, said.split(Pattern.quote(warning), -1).length, said);
      assertFalse(said.contains(PASSWORD), said);
      useAsTestcontainersDoes(client());
      checkBucketOfThatName(server);
      checkConfig(server);
      checkPrograms();
    }
    try (ForeignStart server = start(credentials(), data)) {
      assertTrue(server.isAlive());
      assertEquals(
          3,
          client()
              .statObject(StatObjectArgs.builder().bucket("test-bucket").object("object").build())
              .size());
    }
  }

  private void useAsTestcontainersDoes(MinioClient client) throws Exception {
    client.makeBucket(MakeBucketArgs.builder().bucket("test-bucket").region("us-west-2").build());
    assertTrue(client.bucketExists(BucketExistsArgs.builder().bucket("test-bucket").build()));
    Path file = Files.writeString(folder.resolve("file"), "abc");
    client.uploadObject(
        UploadObjectArgs.builder()
            .bucket("test-bucket")
            .object("object")
            .filename(file.toString())
            .build());
  }

  /** Only who signs nothing is told the health; no right comes with that name. */
  private void checkBucketOfThatName(ForeignStart server) throws Exception {
    URI path = s3.resolve("/minio/health/live");
    MinioClient client = client();
    client.makeBucket(MakeBucketArgs.builder().bucket("minio").build());
    byte[] content = "an object".getBytes(StandardCharsets.UTF_8);
    client.putObject(
        PutObjectArgs.builder().bucket("minio").object("health/live").stream(
                new ByteArrayInputStream(content), content.length, -1)
            .build());
    try (var object =
        client.getObject(GetObjectArgs.builder().bucket("minio").object("health/live").build())) {
      assertEquals("an object", new String(object.readAllBytes(), StandardCharsets.UTF_8));
    }
    assertEquals("", server.send("GET", path).body());
    assertEquals(403, server.status("PUT", path));
    assertEquals(403, server.status("DELETE", path));
    assertEquals(403, server.status("GET", s3.resolve("/minio/health/other")));
    assertEquals(403, server.status("GET", s3.resolve("/minio/health/cluster?maintenance=true")));
    client.removeObject(RemoveObjectArgs.builder().bucket("minio").object("health/live").build());
    assertEquals(200, server.status("GET", path));
  }

  private void checkConfig(ForeignStart server) throws Exception {
    String page =
        server.send("GET", URI.create("http://127.0.0.1:" + console + "/admin/config")).body();
    assertContains(page, "\"name\":\"--any-region\",\"value\":\"true\",\"from\":\"derived\"");
    assertContains(page, "\"name\":\"heap\",\"value\":");
    assertContains(
        page,
        "\"name\":\"--listen\",\"value\":\"127.0.0.1:" + port + "\",\"from\":\"MINIO_ADDRESS");
    assertFalse(page.contains(PASSWORD), page);
  }

  private void checkPrograms() throws IOException {
    if (Commands.isInstalled("mc")) {
      String config = folder.resolve("mc").toString();
      Commands.run("mc", "--config-dir", config, "alias", "set", "local", "" + s3, USER, PASSWORD);
      Commands.run("mc", "--config-dir", config, "ready", "local");
      Commands.run("mc", "--config-dir", config, "ready", "local", "--cluster-read");
      String info = Commands.run("mc", "--config-dir", config, "admin", "info", "local");
      assertContains(info, "Drives: 1/1 OK");
      assertContains(info, "2 Buckets, 1 Object");
      assertContains(info, "1 drive online, 0 drives offline, EC:0");
      Commands.Ended list =
          Commands.tried("mc", "--config-dir", config, "admin", "user", "list", "local");
      assertEquals(1, list.code());
      assertContains(list.output(), "is not implemented");
    }
  }

  @Test
  void mcIsThere() {
    assumeTrue(Commands.isInstalled("mc"), "mc is not installed");
  }

  /** As in compose files of many projects: four folders, options before them, old names. */
  @Test
  void fourFoldersSurviveTheLossOfTwo() throws Exception {
    Map<String, String> environment =
        Map.of("MINIO_ACCESS_KEY", USER, "MINIO_SECRET_KEY", PASSWORD, "MINIO_REGION", "eu-1");
    String data = folder + "/data{1...4}";
    String[] command = {"--console-address", ":" + console, "--address", "127.0.0.1:" + port, data};
    try (ForeignStart server = start(environment, command)) {
      server.awaitSaid("4 drives, 2+2: survives the loss of any 2");
      server.awaitSaid("--region eu-1, from MINIO_REGION in the environment");
      assertEquals(200, server.status("HEAD", s3.resolve("/minio/health/cluster")));
      assertEquals(200, server.status("HEAD", s3.resolve("/minio/health/cluster/read")));
      MinioClient client = client();
      client.makeBucket(MakeBucketArgs.builder().bucket("test-bucket").region("eu-1").build());
      Path file = Files.write(folder.resolve("file"), new byte[1 << 20]);
      client.uploadObject(
          UploadObjectArgs.builder()
              .bucket("test-bucket")
              .object("object")
              .filename(file.toString())
              .build());
    }
    for (String lost : List.of("data1", "data3")) {
      Files.move(folder.resolve(lost), folder.resolve("lost-" + lost));
    }
    try (ForeignStart server = start(environment, command);
        var object =
            client()
                .getObject(
                    GetObjectArgs.builder().bucket("test-bucket").object("object").build())) {
      assertTrue(server.isAlive());
      assertArrayEquals(new byte[1 << 20], object.readAllBytes());
    }
  }

  private static void assertContains(String text, String part) {
    assertTrue(text.contains(part), text);
  }
}
