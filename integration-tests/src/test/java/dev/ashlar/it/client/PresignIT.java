package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** Presigned URLs, used by a client that knows nothing of S3. */
@ExtendWith(SharedServer.class)
class PresignIT {
  private final S3Client s3;
  private final S3Presigner presigner;
  private final String bucket;
  private final HttpClient http = HttpClient.newHttpClient();

  PresignIT(ServerProcess server) {
    s3 = Clients.sync(server);
    presigner = Clients.presigner(server);
    bucket = Buckets.create(s3, "presign");
  }

  @AfterAll
  void close() {
    s3.close();
    presigner.close();
    http.close();
  }

  @Test
  void putThenGet() throws Exception {
    String key = "dir/a b+ä.txt";
    var put =
        presigner.presignPutObject(
            b ->
                b.signatureDuration(Duration.ofMinutes(5))
                    .putObjectRequest(r -> r.bucket(bucket).key(key).contentType("text/plain")));
    HttpRequest.Builder upload =
        HttpRequest.newBuilder(put.url().toURI()).PUT(BodyPublishers.ofString("by URL"));
    put.signedHeaders()
        .forEach(
            (name, values) -> {
              if (!name.equalsIgnoreCase("host")) {
                values.forEach(value -> upload.header(name, value));
              }
            });
    assertEquals(200, http.send(upload.build(), BodyHandlers.ofString()).statusCode());
    HttpResponse<String> got = get(getUrl(key));
    assertEquals(200, got.statusCode(), got.body());
    assertEquals("by URL", got.body());
    assertEquals("text/plain", got.headers().firstValue("content-type").orElseThrow());
  }

  @Test
  void changedUrlsAreRefused() throws Exception {
    String url = getUrl("none").toString();
    assertRefused(404, "NoSuchKey", url);
    assertRefused(403, "SignatureDoesNotMatch", url.replace("/none", "/other"));
    assertRefused(403, "SignatureDoesNotMatch", url + "&response-content-type=text%2Fhtml");
    assertRefused(
        403, "SignatureDoesNotMatch", url.replaceAll("Signature=[0-9a-f]{4}", "Signature=beef"));
    assertRefused(
        400, "AuthorizationQueryParametersError", url.replaceAll("Expires=\\d+", "Expires=604801"));
    assertRefused(
        400, "AuthorizationQueryParametersError", url.replaceAll("&X-Amz-Signature=[0-9a-f]+", ""));
  }

  @Test
  void expiredUrlsAreRefused() throws Exception {
    String url =
        presigner
            .presignGetObject(
                b ->
                    b.signatureDuration(Duration.ofSeconds(1))
                        .getObjectRequest(r -> r.bucket(bucket).key("k")))
            .url()
            .toString();
    ServerProcess.pause(Duration.ofMillis(2500));
    assertRefused(403, "AccessDenied", url);
  }

  private URI getUrl(String key) throws Exception {
    return presigner
        .presignGetObject(
            b ->
                b.signatureDuration(Duration.ofMinutes(5))
                    .getObjectRequest(r -> r.bucket(bucket).key(key)))
        .url()
        .toURI();
  }

  private void assertRefused(int status, String code, String url) throws Exception {
    HttpResponse<String> response = get(URI.create(url));
    assertEquals(status, response.statusCode(), response.body());
    assertTrue(response.body().contains("<Code>" + code + "</Code>"), response.body());
  }

  private HttpResponse<String> get(URI url) throws Exception {
    return http.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString());
  }
}
