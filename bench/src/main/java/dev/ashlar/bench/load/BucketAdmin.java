package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collections;

/** Makes the bucket, configures it and removes it. */
final class BucketAdmin {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int STATUS_ERROR = 300;

  private final Target target;
  private final Signer signer;

  BucketAdmin(Target target) {
    this.target = target;
    signer = new Signer(target);
  }

  void create() throws IOException, InterruptedException {
    send("PUT", "", "");
  }

  /**
   * Puts a subresource.
   *
   * @param subresource in canonical form, as {@code versioning=}
   */
  void configure(String subresource, String document) throws IOException, InterruptedException {
    send("PUT", subresource, document);
  }

  void delete() throws IOException, InterruptedException {
    send("DELETE", "", "");
  }

  private void send(String method, String query, String body)
      throws IOException, InterruptedException {
    String path = target.path();
    String hash = body.isEmpty() ? Signer.EMPTY_PAYLOAD : Signer.UNSIGNED_PAYLOAD;
    StringBuilder headers = new StringBuilder();
    signer.headers(method, path, query, hash, Collections.emptySortedMap(), headers);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://" + target.hostHeader() + path + "?" + query))
            .timeout(TIMEOUT)
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    for (String line : headers.toString().split("\r\n", -1)) {
      int colon = line.indexOf(": ");
      if (colon > 0) {
        request.header(line.substring(0, colon), line.substring(colon + 2));
      }
    }
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
      if (answer.statusCode() >= STATUS_ERROR) {
        throw new BenchException(
            "%s of bucket %s: HTTP %d %s"
                .formatted(method, target.bucket(), answer.statusCode(), answer.body()));
      }
    } catch (java.net.ConnectException e) {
      throw new BenchException("Nobody answers at " + target.hostHeader());
    }
  }
}
