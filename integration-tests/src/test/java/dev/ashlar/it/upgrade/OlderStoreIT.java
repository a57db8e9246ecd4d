package dev.ashlar.it.upgrade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/**
 * Stores that earlier builds have written open, verify and take writes. Each is an archive in
 * {@code stores}, filled by {@code make_store.py} and ended by SIGKILL, so that this build replays
 * its logs.
 */
class OlderStoreIT {
  private static final int EXTRACT_SECONDS_MAX = 120;

  @TempDir private Path folder = Path.of("");

  @ParameterizedTest
  @ValueSource(strings = "2026-11-24")
  void opensVerifiesAndTakesWrites(String version) throws Exception {
    JsonNode manifest = manifest(version);
    extract(version);
    ServerSpec spec = ServerSpec.named("older");
    try (ServerProcess server = ServerProcess.startIn(folder, spec);
        S3Client s3 = Clients.sync(server)) {
      String bucket = manifest.get("bucket").asText();
      verifyListings(s3, bucket, manifest);
      verifyObjects(s3, bucket, manifest);
      appendKeys(s3, bucket, manifest);
      // Each object is read without two of its drives, so that parity and copies are verified, too.
      List<Path> broken = List.of();
      for (int first = 0; first < spec.drives(); first += spec.parityShards()) {
        server.kill();
        broken.forEach(DriveFolders::repair);
        broken = server.driveFolders().subList(first, first + spec.parityShards());
        broken.forEach(DriveFolders::replaceByFile);
        server.start();
        verifyAppended(s3, bucket, manifest);
      }
    }
  }

  private static URL resource(String name) {
    return Objects.requireNonNull(OlderStoreIT.class.getResource("/stores/" + name), name);
  }

  private static JsonNode manifest(String version) throws IOException {
    try (InputStream in = resource(version + ".json").openStream()) {
      return new ObjectMapper().readTree(in);
    }
  }

  private void extract(String version) throws Exception {
    Path archive = Path.of(resource(version + ".tar.gz").toURI());
    Process tar =
        new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", folder.toString())
            .inheritIO()
            .start();
    assertTrue(tar.waitFor(EXTRACT_SECONDS_MAX, TimeUnit.SECONDS), "tar did not end");
    assertEquals(0, tar.exitValue());
  }

  private static void verifyListings(S3Client s3, String bucket, JsonNode manifest) {
    Map<String, Long> listed = new TreeMap<>();
    s3.listObjectsV2Paginator(b -> b.bucket(bucket))
        .contents()
        .forEach(object -> listed.put(object.key(), object.size()));
    Map<String, Long> expected = new TreeMap<>();
    manifest
        .get("objects")
        .properties()
        .forEach(entry -> expected.put(entry.getKey(), entry.getValue().get("size").asLong()));
    assertEquals(expected, listed);
    List<String> uploads =
        s3.listMultipartUploads(b -> b.bucket(bucket)).uploads().stream()
            .map(MultipartUpload::uploadId)
            .toList();
    assertEquals(List.of(manifest.get("upload").get("id").asText()), uploads);
  }

  private static void verifyObjects(S3Client s3, String bucket, JsonNode manifest) {
    for (Map.Entry<String, JsonNode> entry : manifest.get("objects").properties()) {
      JsonNode object = entry.getValue();
      var got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(entry.getKey()));
      assertEquals(
          object.get("sha256").asText(), Content.sha256(got.asByteArray()), entry.getKey());
      assertEquals(object.get("etag").asText(), got.response().eTag(), entry.getKey());
    }
  }

  /** Appends its key to each object, so that this build changes blobs of the older one. */
  private static void appendKeys(S3Client s3, String bucket, JsonNode manifest) {
    for (Map.Entry<String, JsonNode> entry : manifest.get("objects").properties()) {
      long size = entry.getValue().get("size").asLong();
      s3.putObject(
          b -> b.bucket(bucket).key(entry.getKey()).writeOffsetBytes(size),
          RequestBody.fromString(entry.getKey()));
    }
  }

  private static void verifyAppended(S3Client s3, String bucket, JsonNode manifest) {
    for (Map.Entry<String, JsonNode> entry : manifest.get("objects").properties()) {
      String key = entry.getKey();
      int size = entry.getValue().get("size").asInt();
      byte[] got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArray();
      String before = Content.sha256(Arrays.copyOf(got, size));
      assertEquals(entry.getValue().get("sha256").asText(), before, key);
      assertEquals(key, new String(got, size, got.length - size, StandardCharsets.UTF_8));
    }
  }
}
