package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.ForeignStart;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** A server in a control group has the sizes that fit its limit of memory, and lives with it. */
class SizesIT {
  private static final String KEY = "testuser";
  private static final String SECRET = "testpassword";
  private static final int OBJECTS = 8;
  private static final int OBJECT_BYTES = 16 << 20;

  @TempDir private Path folder = Path.of("");

  @ParameterizedTest
  @CsvSource({"512, 96, 128", "1024, 192, 256"})
  void aLimitOfMemoryIsHeeded(int mib, int heapMib, int directMib) throws Exception {
    Path group = newGroup();
    try {
      Files.writeString(group.resolve(limitFile(group)), Long.toString((long) mib << 20));
      serve(mib, heapMib, directMib, group);
    } finally {
      Files.delete(group);
    }
  }

  private void serve(int mib, int heapMib, int directMib, Path group) throws Exception {
    URI s3 = URI.create("http://127.0.0.1:" + ForeignStart.freePort());
    URI management = URI.create("http://127.0.0.1:" + ForeignStart.freePort());
    List<String> enter =
        List.of("sh", "-c", "echo $$ > " + group + "/cgroup.procs && exec \"$@\"", "sh");
    List<String> command =
        List.of(
            "server",
            "--data=" + folder + "/d{1...6}",
            "--listen=" + s3.getAuthority(),
            "--management-listen=" + management.getAuthority());
    Map<String, String> environment = Map.of("ASHLAR_ACCESS_KEY", KEY, "ASHLAR_SECRET_KEY", SECRET);
    try (ForeignStart server =
        new ForeignStart(enter, command, environment, s3, folder.resolve("log"))) {
      server.awaitSaid("Ashlar is ready");
      String page = server.send("GET", management.resolve("/admin/config")).body();
      assertContains(page, setting("memory", mib, "machine"));
      assertContains(page, setting("heap", heapMib, "derived"));
      assertContains(page, setting("direct memory", directMib, "derived"));
      writeAndRead(s3);
      assertTrue(server.isAlive(), server.said());
    }
  }

  private static String setting(String name, int mib, String from) {
    return "{\"name\":\"%s\",\"value\":\"%sMiB\",\"from\":\"%s\"}".formatted(name, mib, from);
  }

  private static void writeAndRead(URI s3) {
    try (S3Client client =
        S3Client.builder()
            .endpointOverride(s3)
            .forcePathStyle(true)
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY, SECRET)))
            .build()) {
      client.createBucket(b -> b.bucket("bucket"));
      byte[] bytes = new byte[OBJECT_BYTES];
      for (int i = 0; i < OBJECTS; i++) {
        String key = "object-" + i;
        client.putObject(b -> b.bucket("bucket").key(key), RequestBody.fromBytes(bytes));
        assertEquals(
            OBJECT_BYTES,
            client.getObjectAsBytes(b -> b.bucket("bucket").key(key)).asByteArrayUnsafe().length);
      }
    }
  }

  private static void assertContains(String text, String part) {
    assertTrue(text.contains(part), text);
  }

  /** Within the group of the tests, as far as that is permitted. */
  private static Path newGroup() throws IOException {
    Path own = Path.of("/sys/fs/cgroup");
    for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
      String[] parts = line.split(":", 3);
      if (List.of(parts[1].split(",", -1)).contains("memory")) {
        own = Path.of("/sys/fs/cgroup/memory" + parts[2]);
        break;
      } else if (parts[0].equals("0")) {
        own = Path.of("/sys/fs/cgroup" + parts[2]);
      }
    }
    Path group = own.resolve("ashlar-" + ProcessHandle.current().pid());
    try {
      Files.createDirectory(group);
    } catch (IOException e) {
      assumeTrue(false, "no control group can be made: " + e.getMessage());
    }
    if (!Files.isWritable(group.resolve(limitFile(group)))) {
      Files.delete(group);
      assumeTrue(false, "control groups below " + own + " have no limit of memory");
    }
    return group;
  }

  private static String limitFile(Path group) {
    String first = "memory.limit_in_bytes";
    return Files.exists(group.resolve(first)) ? first : "memory.max";
  }
}
