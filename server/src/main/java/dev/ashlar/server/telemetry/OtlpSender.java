package dev.ashlar.server.telemetry;

import dev.ashlar.transport.tls.Authorities;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Posts messages of one kind to the collector. The log tells when it fails, and when it works. */
final class OtlpSender {
  private static final Logger LOG = LoggerFactory.getLogger(OtlpSender.class);
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final HttpClient http;
  private final URI url;
  private final Map<String, String> headers;
  private final AtomicBoolean isFailing = new AtomicBoolean();

  /** What has become of a message. */
  enum Outcome {
    TAKEN,
    /** It may be taken later. */
    NOT_NOW,
    /** It will never be taken. */
    REFUSED
  }

  /**
   * @param endpoint of the collector
   * @param path of the messages there, as {@code /v1/traces}
   * @param headers of each request; may be secret
   * @throws IOException naming a header that clients may not set
   */
  OtlpSender(HttpClient http, URI endpoint, String path, Map<String, String> headers)
      throws IOException {
    this.http = http;
    this.url = URI.create(endpoint.toString().replaceAll("/+$", "") + path);
    this.headers = Map.copyOf(headers);
    for (Map.Entry<String, String> each : headers.entrySet()) {
      try {
        HttpRequest.newBuilder(url).setHeader(each.getKey(), each.getValue());
      } catch (IllegalArgumentException e) {
        throw new IOException("the header " + each.getKey() + " for the collector cannot be set");
      }
    }
  }

  /**
   * A client for the collector; the caller closes it.
   *
   * @param authorities null: those that Java trusts
   */
  static HttpClient client(@Nullable Path authorities) throws IOException {
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT);
    if (authorities != null) {
      builder.sslContext(Authorities.read(authorities).clientContext());
    }
    return builder.build();
  }

  URI url() {
    return url;
  }

  /** Waits for the collector's answer, at most for the timeout. */
  Outcome send(byte[] message, Duration timeout) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .POST(HttpRequest.BodyPublishers.ofByteArray(compressed(message)));
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/x-protobuf");
    request.setHeader("Content-Encoding", "gzip");
    CompletableFuture<HttpResponse<Void>> answer =
        http.sendAsync(request.build(), BodyHandlers.discarding());
    try {
      // The timeout of a request does not count once the head of its answer is there.
      return answered(answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS).statusCode());
    } catch (TimeoutException e) {
      failed("it does not answer in " + timeout.toSeconds() + " s");
      return Outcome.NOT_NOW;
    } catch (ExecutionException e) {
      failed(String.valueOf(e.getCause()));
      return Outcome.NOT_NOW;
    } finally {
      answer.cancel(true);
    }
  }

  private Outcome answered(int status) {
    if (status / 100 == 2) {
      if (isFailing.compareAndSet(true, false)) {
        LOG.info("The collector at {} takes data again.", url);
      }
      return Outcome.TAKEN;
    }
    failed("it answered " + status);
    // These, says OTLP, are to be tried again.
    boolean isOver = status != 429 && status != 502 && status != 503 && status != 504;
    return isOver ? Outcome.REFUSED : Outcome.NOT_NOW;
  }

  private void failed(String why) {
    if (isFailing.compareAndSet(false, true)) {
      LOG.warn("The collector at {} takes no data; what it misses is dropped: {}", url, why);
    }
  }

  private static byte[] compressed(byte[] message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(message.length / 4 + 64);
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(message);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail so
    }
    return bytes.toByteArray();
  }
}
