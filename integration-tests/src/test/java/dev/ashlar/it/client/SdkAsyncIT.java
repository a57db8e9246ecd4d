package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;

/** The asynchronous client: bodies in chunks with a checksum in the trailer, many at once. */
@ExtendWith(SharedServer.class)
class SdkAsyncIT {
  private final S3AsyncClient s3;
  private final String bucket = Buckets.name("async");
  private final long seed = Seeds.seed("SdkAsyncIT");

  SdkAsyncIT(ServerProcess server) {
    s3 = Clients.async(server);
    s3.createBucket(b -> b.bucket(bucket)).join();
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void manyAtOnceInSmallChunks() {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 1; i <= 40; i++) {
      Content content = new Content(seed + i, i * 9_973);
      String key = "o" + i;
      ChecksumAlgorithm algorithm = i % 2 == 0 ? ChecksumAlgorithm.CRC32_C : ChecksumAlgorithm.SHA1;
      all.add(
          s3.putObject(
                  b ->
                      b.bucket(bucket)
                          .key(key)
                          .checksumAlgorithm(algorithm)
                          .contentLength((long) content.length()),
                  inPieces(content.bytes(), 1 + i * 700))
              .thenCompose(
                  put ->
                      s3.getObject(
                          b -> b.bucket(bucket).key(key), AsyncResponseTransformer.toBytes()))
              .thenAccept(
                  got ->
                      assertEquals(
                          content.sha256(), Content.sha256(got.asByteArrayUnsafe()), key)));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
  }

  private static AsyncRequestBody inPieces(byte[] bytes, int pieceBytes) {
    List<ByteBuffer> pieces = new ArrayList<>();
    for (int offset = 0; offset < bytes.length; offset += pieceBytes) {
      pieces.add(
          ByteBuffer.wrap(bytes, offset, Math.min(pieceBytes, bytes.length - offset)).slice());
    }
    return AsyncRequestBody.fromByteBuffers(pieces.toArray(ByteBuffer[]::new));
  }
}
