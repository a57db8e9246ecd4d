package dev.ashlar.it.imports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** {@code ashlar import iam}: clients of MinIO go on with their access keys. */
@ExtendWith(SharedServer.class)
class ImportIamIT {
  private static final String SECRET = "secret-of-import-alice";

  @TempDir private Path folder;

  @Test
  void usersKeepKeysAndRights(ServerProcess server) throws Exception {
    Path export = export();
    for (int run = 0; run < 2; run++) { // the second time, everything is there
      Launch.Ended ended = Launch.ended(log -> begin(server, export, log));
      assertEquals(0, ended.code(), ended::output);
      assertFalse(ended.output().contains(SECRET), ended::output);
    }
    try (S3Client root = Clients.sync(server);
        S3Client alice = Clients.sync(server, "import-alice", SECRET);
        S3Client bob = Clients.sync(server, "import-bob", "secret-of-import-bob")) {
      root.createBucket(r -> r.bucket("import-iam"));
      root.putObject(r -> r.bucket("import-iam").key("k"), RequestBody.fromString("content"));
      assertEquals(
          "content", alice.getObjectAsBytes(r -> r.bucket("import-iam").key("k")).asUtf8String());
      assertThrows(
          S3Exception.class, () -> alice.deleteObject(r -> r.bucket("import-iam").key("k")));
      assertThrows(
          S3Exception.class, () -> bob.getObjectAsBytes(r -> r.bucket("import-iam").key("k")));
    }
  }

  private Path export() throws IOException {
    Path file = folder.resolve("export.zip");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      add(
          zip,
          "policies.json",
          "{\"import-read\":{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\","
              + "\"Action\":[\"s3:GetObject\"],\"Resource\":[\"arn:aws:s3:::*\"]}]}}");
      add(
          zip,
          "users.json",
          "{\"import-alice\":{\"secretKey\":\""
              + SECRET
              + "\",\"status\":\"enabled\"},\"import-bob\":{\"secretKey\":"
              + "\"secret-of-import-bob\",\"status\":\"disabled\"}}");
      add(
          zip,
          "user_mappings.json",
          "{\"import-alice\":{\"policy\":\"import-read\"},\"import-bob\":{\"policy\":\"import-read\"}}");
    }
    return file;
  }

  private static void add(ZipOutputStream zip, String name, String content) throws IOException {
    zip.putNextEntry(new ZipEntry("iam-assets/" + name));
    zip.write(content.getBytes(StandardCharsets.UTF_8));
  }

  private static Process begin(ServerProcess server, Path export, Path log) throws IOException {
    return Launch.start(
        List.of(
            "import",
            "iam",
            export.toString(),
            "--to",
            server.endpoint().toString(),
            "--management",
            server.management("").getAuthority()),
        Map.of(
            "ASHLAR_ACCESS_KEY", ServerProcess.ACCESS_KEY,
            "ASHLAR_SECRET_KEY", ServerProcess.SECRET_KEY),
        log);
  }
}
