package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.S3Failures;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.ObjectAttributes;
import software.amazon.awssdk.services.s3.model.StorageClass;

/**
 * Profiles that are added to a store are storage classes of its clients: one that has a name of
 * S3's own, and one that has not. What clients in Python and programs say of them stands in
 * storage_class_test.py. Lifecycle rules of which days have two seconds move objects to it, among
 * other things: lifecycle_test.py.
 */
class StorageClassIT {
  private static final int DRIVES = 8;
  private static final int PART_BYTES = 5 << 20;
  private static final String OF_S3 = "STANDARD_IA";
  private static final String OWN = "COLD";

  private final long seed = Seeds.seed("StorageClassIT");
  private ServerProcess server;
  private Python python;

  @BeforeAll
  void start(@TempDir Path files) throws Exception {
    python = Python.withClients();
    ServerSpec spec =
        new ServerSpec("storage-class", DRIVES, 1, "4+2", 16 << 10)
            .withOptions("--lifecycle-day=2");
    server = ServerProcess.start(spec);
    python.run("storage_class_test.py", server, "" + seed, "" + files, "unknown");
    assertEquals(0, profile("add", OF_S3, "2+2").code());
    assertEquals(0, profile("add", OWN, "3+2").code());
  }

  @AfterAll
  void close() {
    if (server != null) {
      server.close();
    }
  }

  private Launch.Ended profile(String... arguments) {
    List<String> command = new ArrayList<>(List.of("admin", "profile"));
    command.addAll(List.of(arguments));
    command.addAll(List.of("--management", "127.0.0.1:" + server.management("/").getPort()));
    return Launch.ended(log -> Launch.start(command, Map.of(), log));
  }

  @Test
  void pythonAndTheAwsCli(@TempDir Path files) throws Exception {
    python.run("storage_class_test.py", server, "" + seed, "" + files, "write");
    Launch.Ended refused = profile("remove", OF_S3);
    assertEquals(1, refused.code(), refused.output());
    assertTrue(refused.output().contains("the profile is in use"), refused.output());
    String listed = profile("list").output();
    assertTrue(listed.contains(OF_S3), listed);
    server.stop();
    server.driveFolders().subList(0, 2).forEach(ServerProcess::deleteRecursively);
    server.start();
    python.run("storage_class_test.py", server, "" + seed, "" + files, "read");
  }

  @Test
  void lifecycle() throws Exception {
    python.run("lifecycle_test.py", server, "" + seed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mc", "rclone"})
  void program(String name, @TempDir Path files) throws Exception {
    assumeTrue(Commands.isInstalled(name), name + " is not installed");
    python.run("storage_class_test.py", server, "" + seed, "" + files, name);
  }

  /** Puts, parts and copies, in and between all classes. */
  @Test
  void javaSdk() {
    try (S3Client s3 = Clients.sync(server)) {
      String bucket = Buckets.create(s3, "sdk");
      Map<String, Content> contents = new TreeMap<>();
      Map<String, String> classes = new TreeMap<>();
      for (String name : List.of(OF_S3, OWN, "STANDARD")) {
        Content content = new Content(seed + name.hashCode(), 100_000);
        s3.putObject(
            b -> b.bucket(bucket).key("put-" + name).storageClass(name),
            RequestBody.fromBytes(content.bytes()));
        contents.put("put-" + name, content);
        classes.put("put-" + name, name);
        contents.put("parts-" + name, upload(s3, bucket, name));
        classes.put("parts-" + name, name);
      }
      for (String from : List.copyOf(classes.keySet())) {
        for (String to : List.of(OF_S3, OWN, "STANDARD")) {
          String copy = from + "-to-" + to;
          s3.copyObject(
              b ->
                  b.sourceBucket(bucket)
                      .sourceKey(from)
                      .destinationBucket(bucket)
                      .destinationKey(copy)
                      .storageClass(to));
          contents.put(copy, contents.get(from));
          classes.put(copy, to);
        }
      }
      assertClasses(s3, bucket, classes);
      contents.forEach(
          (key, content) ->
              assertEquals(
                  content.sha256(),
                  Content.sha256(
                      s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArrayUnsafe()),
                  key));
      S3Failures.assertFails(
          400,
          "InvalidStorageClass",
          () ->
              s3.putObject(
                  b -> b.bucket(bucket).key("k").storageClass(StorageClass.GLACIER),
                  RequestBody.fromString("x")));
    }
  }

  /** In two parts; until the upload is complete, lists of uploads and parts have the class. */
  private Content upload(S3Client s3, String bucket, String name) {
    Content content = new Content(seed - name.hashCode(), PART_BYTES + 1000);
    byte[] bytes = content.bytes();
    String key = "parts-" + name;
    String upload =
        s3.createMultipartUpload(b -> b.bucket(bucket).key(key).storageClass(name)).uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (int number = 1; number <= 2; number++) {
      int from = (number - 1) * PART_BYTES;
      RequestBody body =
          RequestBody.fromBytes(
              Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + PART_BYTES)));
      int part = number;
      String etag =
          s3.uploadPart(b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(part), body)
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
    }
    assertEquals(
        name, s3.listParts(b -> b.bucket(bucket).key(key).uploadId(upload)).storageClassAsString());
    assertEquals(
        name,
        s3.listMultipartUploads(b -> b.bucket(bucket)).uploads().getFirst().storageClassAsString());
    s3.completeMultipartUpload(
        b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(m -> m.parts(parts)));
    return content;
  }

  private static void assertClasses(S3Client s3, String bucket, Map<String, String> classes) {
    classes.forEach(
        (key, name) -> {
          String shown = name.equals("STANDARD") ? null : name;
          assertEquals(
              shown, s3.headObject(b -> b.bucket(bucket).key(key)).storageClassAsString(), key);
          assertEquals(
              shown,
              s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).response().storageClassAsString(),
              key);
          assertEquals(
              name,
              s3.getObjectAttributes(
                      b ->
                          b.bucket(bucket)
                              .key(key)
                              .objectAttributes(ObjectAttributes.STORAGE_CLASS))
                  .storageClassAsString(),
              key);
        });
    Map<String, String> first = new TreeMap<>();
    s3.listObjects(b -> b.bucket(bucket)).contents().stream()
        .forEach(object -> first.put(object.key(), object.storageClassAsString()));
    Map<String, String> second = new TreeMap<>();
    s3.listObjectsV2(b -> b.bucket(bucket)).contents().stream()
        .forEach(object -> second.put(object.key(), object.storageClassAsString()));
    Map<String, String> versions = new TreeMap<>();
    s3.listObjectVersions(b -> b.bucket(bucket)).versions().stream()
        .forEach(version -> versions.put(version.key(), version.storageClassAsString()));
    assertEquals(List.of(classes, classes, classes), List.of(first, second, versions));
  }
}
