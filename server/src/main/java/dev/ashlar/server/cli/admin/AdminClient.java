package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.server.admin.AdminAccess;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Asks management ports, with the root credentials where they are given. */
public final class AdminClient {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

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
    return send(
        management,
        HttpRequest.newBuilder(URI.create(management + path))
            .method(method, HttpRequest.BodyPublishers.noBody()));
  }

  /** The same with a document as JSON. */
  public String post(PortAddress management, String path, Object document)
      throws IOException, InterruptedException {
    return send(
        management,
        HttpRequest.newBuilder(URI.create(management + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(document))));
  }

  private String send(PortAddress management, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    request.timeout(TIMEOUT).header(AdminAccess.HEADER, "1");
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    HttpResponse<String> answer;
    try {
      answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (SSLHandshakeException e) {
      throw new IOException(
          management + " is not trusted (its authority may be named with --ca): " + e.getMessage(),
          e);
    } catch (IOException e) {
      throw new IOException(management + " does not answer: " + e, e);
    }
    if (answer.statusCode() != 200) {
      throw new IOException(error(answer));
    }
    return answer.body();
  }

  private String error(HttpResponse<String> answer) {
    String text = answer.body().strip();
    String status = "status " + answer.statusCode() + (text.isEmpty() ? "" : ": " + text);
    try {
      String why = json.readTree(answer.body()).path("error").asText();
      return why.isEmpty() ? status : why;
    } catch (IOException e) {
      return status;
    }
  }
}
