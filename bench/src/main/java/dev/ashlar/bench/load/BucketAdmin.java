package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Makes the bucket and removes it. */
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
    send("PUT");
  }

  void delete() throws IOException, InterruptedException {
    send("DELETE");
  }

  private void send(String method) throws IOException, InterruptedException {
    String path = "/" + target.bucket();
    StringBuilder headers = new StringBuilder();
    signer.headers(method, path, Signer.EMPTY_PAYLOAD, null, headers);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://" + target.hostHeader() + path))
            .timeout(TIMEOUT)
            .method(method, HttpRequest.BodyPublishers.noBody());
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
