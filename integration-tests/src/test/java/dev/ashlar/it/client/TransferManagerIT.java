package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.transfer.s3.S3TransferManager;
import software.amazon.awssdk.transfer.s3.model.FileDownload;
import software.amazon.awssdk.transfer.s3.model.FileUpload;
import software.amazon.awssdk.transfer.s3.model.ResumableFileDownload;
import software.amazon.awssdk.transfer.s3.model.ResumableFileUpload;
import software.amazon.awssdk.transfer.s3.progress.TransferListener;

/** The transfer manager's jobs on files and directories, on both clients that it knows. */
@ExtendWith(SharedServer.class)
class TransferManagerIT {
  private static final int PART = 5 << 20;
  private static final int PAUSES_MAX = 20;
  private static final int LARGE = 3 * PART + 12_345;

  private final long seed = Seeds.seed("TransferManagerIT");
  private final ServerProcess server;
  private final S3Client s3;
  private final String bucket;

  TransferManagerIT(ServerProcess server) {
    this.server = server;
    s3 = Clients.sync(server);
    bucket = Buckets.createVersioned(s3, "transfer");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  /** What cuts objects into parts. */
  enum Kind {
    NETTY {
      @Override
      S3AsyncClient client(ServerProcess server) {
        return Clients.multipart(server, PART);
      }
    },
    CRT {
      @Override
      S3AsyncClient client(ServerProcess server) {
        return Clients.crt(server, PART);
      }
    };

    abstract S3AsyncClient client(ServerProcess server);
  }

  private interface Job {
    void run(S3AsyncClient client, S3TransferManager transfers) throws Exception;
  }

  private void with(Kind kind, Job job) throws Exception {
    try (S3AsyncClient client = kind.client(server);
        S3TransferManager transfers = S3TransferManager.builder().s3Client(client).build()) {
      job.run(client, transfers);
    }
  }

  private Path file(Path folder, String name, int length) throws IOException {
    Path path = folder.resolve(name);
    Files.createDirectories(path.getParent());
    return Files.write(path, new Content(seed + name.hashCode(), length).bytes());
  }

  private static Map<String, String> sums(Path folder) throws IOException {
    Map<String, String> sums = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        sums.put(folder.relativize(file).toString(), sum(file));
      }
    }
    return sums;
  }

  private static String sum(Path file) throws IOException {
    return Content.sha256(Files.readAllBytes(file));
  }

  private FileUpload begin(
      S3TransferManager transfers, Kind kind, String key, Path source, TransferListener... seen) {
    return transfers.uploadFile(
        b ->
            b.source(source)
                .transferListeners(List.of(seen))
                .putObjectRequest(
                    p ->
                        p.bucket(bucket)
                            .key(kind + "/" + key)
                            .checksumAlgorithm(ChecksumAlgorithm.CRC32_C)));
  }

  @ParameterizedTest
  @EnumSource
  void directoriesComeBackAsTheyWent(Kind kind, @TempDir Path folder) throws Exception {
    Path source = folder.resolve("source");
    file(source, "empty", 0);
    file(source, "a/one", 1);
    file(source, "a/b c/+&?=%20", 70_000);
    file(source, "a/ünïcødé", 4_096);
    file(source, "large", LARGE);
    with(
        kind,
        (client, transfers) -> {
          assertEquals(
              List.of(),
              transfers
                  .uploadDirectory(b -> b.source(source).bucket(bucket).s3Prefix("d-" + kind))
                  .completionFuture()
                  .join()
                  .failedTransfers());
          Path back = folder.resolve("back");
          assertEquals(
              List.of(),
              transfers
                  .downloadDirectory(
                      b ->
                          b.destination(back)
                              .bucket(bucket)
                              .listObjectsV2RequestTransformer(l -> l.prefix("d-" + kind + "/")))
                  .completionFuture()
                  .join()
                  .failedTransfers());
          assertEquals(sums(source), sums(back));
        });
  }

  @ParameterizedTest
  @EnumSource
  void copiesKeepBytesAndChecksum(Kind kind, @TempDir Path folder) throws Exception {
    Path source = file(folder, "source", LARGE);
    with(
        kind,
        (client, transfers) -> {
          begin(transfers, kind, "from", source).completionFuture().join();
          transfers
              .copy(
                  b ->
                      b.copyObjectRequest(
                          c ->
                              c.sourceBucket(bucket)
                                  .sourceKey(kind + "/from")
                                  .destinationBucket(bucket)
                                  .destinationKey(kind + "/to")))
              .completionFuture()
              .join();
          Path back = folder.resolve("back");
          download(transfers, kind + "/to", null, back).completionFuture().join();
          assertEquals(sum(source), sum(back));
        });
    HeadObjectResponse head =
        s3.headObject(b -> b.bucket(bucket).key(kind + "/from").checksumMode(ChecksumMode.ENABLED));
    assertTrue(head.checksumCRC32C() != null, head::toString);
  }

  private FileDownload download(
      S3TransferManager transfers,
      String key,
      @Nullable String version,
      Path to,
      TransferListener... seen) {
    GetObjectRequest get =
        GetObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .versionId(version)
            .checksumMode(ChecksumMode.ENABLED)
            .build();
    return transfers.downloadFile(
        b -> b.getObjectRequest(get).destination(to).transferListeners(List.of(seen)));
  }

  @ParameterizedTest
  @EnumSource
  void olderVersionsAreDownloadedInParts(Kind kind, @TempDir Path folder) throws Exception {
    Path older = file(folder, "older", LARGE);
    Path newer = file(folder, "newer", PART + 1);
    with(
        kind,
        (client, transfers) -> {
          begin(transfers, kind, "version", older).completionFuture().join();
          begin(transfers, kind, "version", newer).completionFuture().join();
          List<ObjectVersion> versions =
              s3.listObjectVersions(b -> b.bucket(bucket).prefix(kind + "/version")).versions();
          assertEquals(2, versions.size());
          for (int i = 0; i < 2; i++) {
            Path back = folder.resolve("back" + i);
            download(transfers, kind + "/version", versions.get(i).versionId(), back)
                .completionFuture()
                .join();
            assertEquals(sum(i == 0 ? newer : older), sum(back));
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void pausedTransfersAreResumed(Kind kind, @TempDir Path folder) throws Exception {
    Path source = file(folder, "source", 6 * PART);
    Path back = folder.resolve("back");
    with(
        kind,
        (client, transfers) -> {
          Begun upload = new Begun();
          ResumableFileUpload halfSent =
              upload.await(begin(transfers, kind, "paused", source, upload)).pause();
          transfers
              .resumeUploadFile(ResumableFileUpload.fromString(halfSent.serializeToString()))
              .completionFuture()
              .join();
          ResumableFileDownload halfRead = halfRead(transfers, kind + "/paused", back);
          transfers.resumeDownloadFile(halfRead).completionFuture().join();
        });
    assertEquals(sum(source), sum(back));
    assertEquals(List.of(), s3.listMultipartUploads(b -> b.bucket(bucket)).uploads());
  }

  /** A download that was paused before its end, which may come before the pause. */
  private ResumableFileDownload halfRead(S3TransferManager transfers, String key, Path back)
      throws Exception {
    for (int attempt = 0; attempt < PAUSES_MAX; attempt++) {
      Begun begun = new Begun();
      ResumableFileDownload paused =
          begun.await(download(transfers, key, null, back, begun)).pause();
      if (paused.bytesTransferred() < 6 * PART) {
        return paused;
      }
    }
    throw new AssertionError("each of " + PAUSES_MAX + " downloads ended before it was paused");
  }

  /** Waits until a transfer has begun. */
  private static final class Begun implements TransferListener {
    private final CountDownLatch begun = new CountDownLatch(1);

    <T> T await(T transfer) throws InterruptedException {
      begun.await();
      return transfer;
    }

    @Override
    public void bytesTransferred(TransferListener.Context.BytesTransferred context) {
      begun.countDown();
    }

    @Override
    public void transferComplete(TransferListener.Context.TransferComplete context) {
      begun.countDown();
    }

    @Override
    public void transferFailed(TransferListener.Context.TransferFailed context) {
      begun.countDown();
    }
  }
}
