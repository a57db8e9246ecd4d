package dev.ashlar.it.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;
import software.amazon.awssdk.utils.Md5Utils;

/** Encrypted objects with the AWS SDK, and what of them is on the drives. */
@ExtendWith(SharedServer.class)
class EncryptionIT {
  private static final int LENGTH = 300_000;
  private static final byte[] EMPTY = new byte[4 << 20];
  private static final byte[] KEY_BYTES = "a key of a client, and 32 bytes!".getBytes(ISO_8859_1);
  private static final String KEY = Base64.getEncoder().encodeToString(KEY_BYTES);
  private static final String KEY_MD5 = Md5Utils.md5AsBase64(KEY_BYTES);

  private final long seed = Seeds.seed("EncryptionIT");

  /** Text that is found on drives wherever it is stored as it is. */
  private byte[] body(String name) {
    String text = "%s-%016x ".formatted(name, seed);
    byte[] body = new byte[LENGTH];
    for (int at = 0; at < LENGTH; at++) {
      body[at] = (byte) text.charAt(at % text.length());
    }
    return body;
  }

  @Test
  void onlyPlainObjectsAreReadableOnTheDrives(ServerProcess server) throws Exception {
    Instant began = Instant.now().minusSeconds(2);
    try (S3Client s3 = Clients.sync(server)) {
      String bucket = Buckets.create(s3, "sealed");
      put(s3, bucket, "plain", b -> {});
      put(s3, bucket, "master", b -> b.serverSideEncryption(ServerSideEncryption.AES256));
      put(
          s3,
          bucket,
          "kms",
          b -> b.serverSideEncryption(ServerSideEncryption.AWS_KMS).ssekmsKeyId("it-2"));
      put(
          s3,
          bucket,
          "customer",
          b -> b.sseCustomerAlgorithm("AES256").sseCustomerKey(KEY).sseCustomerKeyMD5(KEY_MD5));
      upload(s3, bucket);
      copy(s3, bucket);
      assertEquals(
          Set.of("plain", "opened"),
          found(
              server.driveFolders(),
              List.of("plain", "master", "kms", "customer", "upload", "opened", "closed"),
              began));
    }
  }

  private void put(S3Client s3, String bucket, String key, Consumer<PutObjectRequest.Builder> how) {
    byte[] body = body(key);
    s3.putObject(
        PutObjectRequest.builder().bucket(bucket).key(key).applyMutation(how).build(),
        RequestBody.fromBytes(body));
    boolean isOfCustomer = key.equals("customer");
    byte[] got =
        s3.getObjectAsBytes(
                b -> {
                  b.bucket(bucket).key(key);
                  if (isOfCustomer) {
                    b.sseCustomerAlgorithm("AES256").sseCustomerKey(KEY).sseCustomerKeyMD5(KEY_MD5);
                  }
                })
            .asByteArray();
    assertArrayEquals(body, got);
    byte[] range =
        s3.getObjectAsBytes(
                b -> {
                  b.bucket(bucket).key(key).range("bytes=65530-131080");
                  if (isOfCustomer) {
                    b.sseCustomerAlgorithm("AES256").sseCustomerKey(KEY).sseCustomerKeyMD5(KEY_MD5);
                  }
                })
            .asByteArray();
    assertArrayEquals(Arrays.copyOfRange(body, 65530, 131081), range);
  }

  private void upload(S3Client s3, String bucket) {
    byte[] body = body("upload");
    String upload =
        s3.createMultipartUpload(
                b ->
                    b.bucket(bucket)
                        .key("upload")
                        .serverSideEncryption(ServerSideEncryption.AES256))
            .uploadId();
    String etag =
        s3.uploadPart(
                b -> b.bucket(bucket).key("upload").uploadId(upload).partNumber(1),
                RequestBody.fromBytes(body))
            .eTag();
    s3.completeMultipartUpload(
        b ->
            b.bucket(bucket)
                .key("upload")
                .uploadId(upload)
                .multipartUpload(
                    m -> m.parts(CompletedPart.builder().partNumber(1).eTag(etag).build())));
    assertArrayEquals(body, s3.getObjectAsBytes(b -> b.bucket(bucket).key("upload")).asByteArray());
  }

  /** What was sealed is opened, and what was plain is closed, by a copy. */
  private void copy(S3Client s3, String bucket) {
    s3.putObject(
        b -> b.bucket(bucket).key("opened").serverSideEncryption(ServerSideEncryption.AES256),
        RequestBody.fromBytes(body("opened")));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("opened")
                .destinationBucket(bucket)
                .destinationKey("opened.copy"));
    assertArrayEquals(
        body("opened"),
        s3.getObjectAsBytes(b -> b.bucket(bucket).key("opened.copy")).asByteArray());
    // From sealed to sealed nothing is written as it is in between.
    s3.putObject(
        b -> b.bucket(bucket).key("closed").serverSideEncryption(ServerSideEncryption.AES256),
        RequestBody.fromBytes(body("closed")));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("closed")
                .destinationBucket(bucket)
                .destinationKey("closed.copy")
                .sseCustomerAlgorithm("AES256")
                .sseCustomerKey(KEY)
                .sseCustomerKeyMD5(KEY_MD5));
    assertArrayEquals(
        body("closed"),
        s3.getObjectAsBytes(
                b ->
                    b.bucket(bucket)
                        .key("closed.copy")
                        .sseCustomerAlgorithm("AES256")
                        .sseCustomerKey(KEY)
                        .sseCustomerKeyMD5(KEY_MD5))
            .asByteArray());
  }

  /** The names whose text is in a file that was written since then. */
  private Set<String> found(List<Path> drives, List<String> names, Instant since)
      throws IOException {
    Set<String> found = new TreeSet<>();
    for (Path drive : drives) {
      try (Stream<Path> files = Files.walk(drive)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          if (Files.getLastModifiedTime(file).compareTo(FileTime.from(since)) >= 0) {
            find(file, names, found);
          }
        }
      }
    }
    return found;
  }

  private void find(Path file, List<String> names, Set<String> found) throws IOException {
    byte[] bytes = new byte[EMPTY.length];
    int kept = 0;
    try (InputStream in = Files.newInputStream(file)) {
      while (true) {
        int count = in.readNBytes(bytes, kept, bytes.length - kept);
        // Most of a segment is empty yet.
        boolean isEmpty = Arrays.equals(bytes, EMPTY);
        String text = isEmpty ? "" : new String(bytes, 0, kept + count, ISO_8859_1);
        if (text.contains("-%016x ".formatted(seed))) {
          names.stream()
              .filter(name -> text.contains("%s-%016x ".formatted(name, seed)))
              .forEach(found::add);
        }
        if (count < bytes.length - kept) {
          return;
        }
        kept = 64; // longer than a name
        System.arraycopy(bytes, bytes.length - kept, bytes, 0, kept);
      }
    }
  }
}
