package dev.ashlar.server.event;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Posts each event to a URL. A status 2xx acknowledges it. */
final class WebhookTarget implements EventTarget {
  private static final int SENDS_MAX = 16;
  private static final int OK = 200;
  private static final int MULTIPLE_CHOICES = 300;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final String arn;
  private final URI url;
  private final @Nullable String token;
  private final HttpClient client;

  private WebhookTarget(String arn, URI url, @Nullable String token, HttpClient client) {
    this.arn = arn;
    this.url = url;
    this.token = token;
    this.client = client;
  }

  static WebhookTarget of(String arn, TargetFields fields) throws IOException {
    URI url = fields.url("url", List.of("http", "https"));
    String token = fields.optional("token");
    if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 0x7F)) {
      throw new IllegalArgumentException("token: it has characters that a header cannot have");
    }
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .sslContext(fields.tls())
            .build();
    fields.requireNoOthers();
    return new WebhookTarget(arn, url, token, client);
  }

  @Override
  public String arn() {
    return arn;
  }

  @Override
  public int sendsMax() {
    return SENDS_MAX;
  }

  @Override
  public CompletableFuture<Void> send(EventMessage message) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(message.json()));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(request.build(), BodyHandlers.discarding());
    CompletableFuture<Void> sent = new CompletableFuture<>();
    var unusedEnd = answer.whenComplete((response, failure) -> end(sent, response, failure));
    // Does nothing if the exchange has ended.
    var unusedCancel = sent.whenComplete((nothing, failure) -> answer.cancel(true));
    return sent;
  }

  private static void end(
      CompletableFuture<Void> sent,
      @Nullable HttpResponse<Void> response,
      @Nullable Throwable failure) {
    if (response == null) {
      sent.completeExceptionally(
          failure == null ? new IOException("no answer") : new IOException(text(failure), failure));
    } else if (response.statusCode() >= OK && response.statusCode() < MULTIPLE_CHOICES) {
      sent.complete(null);
    } else {
      sent.completeExceptionally(new IOException("status " + response.statusCode()));
    }
  }

  private static String text(Throwable failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
