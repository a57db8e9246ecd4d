package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.server.admin.AdminAccess;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Asks management ports, with the root credentials where they are given. */
public final class AdminClient {
  static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient http;
  private final @Nullable String authorization;

  /**
   * @param credentials file with them, unless they are in the environment; null: none
   * @param authorities file with those that ports with TLS have their certificates from; null:
   *     those that Java trusts
   */
  public AdminClient(@Nullable Path credentials, @Nullable Path authorities) throws IOException {
    HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(TIMEOUT);
    if (authorities != null) {
      builder.sslContext(Authorities.read(authorities).clientContext());
    }
    http = builder.build();
    RootCredential root = RootCredential.ifGiven(System.getenv(), credentials);
    authorization = root == null ? null : AdminAccess.authorization(root);
  }

  /**
   * The body of the answer.
   *
   * @throws IOException also where it is refused; the message says why
   */
  String send(PortAddress management, String method, String path)
      throws IOException, InterruptedException {
    return send(management, method, path, TIMEOUT);
  }

  /**
   * Likewise.
   *
   * @param timeout until the answer begins
   */
  String send(PortAddress management, String method, String path, Duration timeout)
      throws IOException, InterruptedException {
    return text(
        request(management, path)
            .timeout(timeout)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        management);
  }

  /** The same with a document as JSON. */
  public String post(PortAddress management, String path, Object document)
      throws IOException, InterruptedException {
    return text(
        request(management, path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(document)))
            .build(),
        management);
  }

  private String text(HttpRequest request, PortAddress management)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> answer = send(request, management);
    try (InputStream body = answer.body()) {
      String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
      if (answer.statusCode() != 200) {
        throw new IOException(error(answer.statusCode(), text));
      }
      return text;
    }
  }

  private HttpRequest.Builder request(PortAddress management, String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(management + path))
            .timeout(TIMEOUT)
            .header(AdminAccess.HEADER, "1");
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return request;
  }

  private HttpResponse<InputStream> send(HttpRequest request, PortAddress management)
      throws IOException, InterruptedException {
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    } catch (SSLHandshakeException e) {
      throw new IOException(
          management + " is not trusted (its authority may be named with --ca): " + e.getMessage(),
          e);
    } catch (IOException e) {
      throw new IOException(management + " does not answer: " + e, e);
    }
  }

  /**
   * Writes the body of the answer to a file that exists.
   *
   * @throws IOException also where it is refused; the message says why
   */
  void download(PortAddress management, String path, Path file)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> answer = send(request(management, path).build(), management);
    try (InputStream body = answer.body()) {
      if (answer.statusCode() != 200) {
        String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
        throw new IOException(error(answer.statusCode(), text));
      }
      try (OutputStream out = Files.newOutputStream(file)) {
        body.transferTo(out);
      }
    }
  }

  private String error(int code, String body) {
    String text = body.strip();
    String status = "status " + code + (text.isEmpty() ? "" : ": " + text);
    try {
      String why = json.readTree(body).path("error").asText();
      return why.isEmpty() ? status : why;
    } catch (IOException e) {
      return status;
    }
  }
}
