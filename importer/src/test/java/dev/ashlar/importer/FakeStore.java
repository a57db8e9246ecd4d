package dev.ashlar.importer;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** A service that answers what it is told to, and 404 otherwise. */
final class FakeStore implements AutoCloseable {
  /**
   * @param body a document of XML, or the content of an object
   */
  record Answer(int status, String body) {}

  private static final Answer NONE = new Answer(404, error("NoSuchThing"));

  private final HttpServer server;
  private final Map<String, Supplier<Answer>> answers = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();

  FakeStore() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.start();
    answer("HEAD /b", 200, "");
    answer("GET /b?versioning", 200, "<VersioningConfiguration/>");
    answer("GET /b?versions", 200, list(""));
  }

  /** A page of versions that is the last one. */
  static String list(String versions) {
    return "<ListVersionsResult><IsTruncated>false</IsTruncated>"
        + versions
        + "</ListVersionsResult>";
  }

  static String version(String key, String etag, int size) {
    return "<Version><Key>%s</Key><VersionId>null</VersionId><ETag>\"%s\"</ETag><Size>%d</Size>"
            .formatted(key, etag, size)
        + "<LastModified>2026-11-27T10:00:00Z</LastModified></Version>";
  }

  static String error(String code) {
    return "<Error><Code>" + code + "</Code><Message>" + code + "</Message></Error>";
  }

  /**
   * @param request method, path, and the first name of the query
   */
  void answer(String request, int status, String body) {
    answerEach(request, () -> new Answer(status, body));
  }

  /** Another answer each time. */
  void answerEach(String request, Supplier<Answer> answer) {
    answers.put(request, answer);
  }

  /** Those that change something, in the form of {@link #answer}. */
  List<String> changes() {
    return requests.stream()
        .filter(each -> !each.startsWith("GET") && !each.startsWith("HEAD"))
        .toList();
  }

  Side side() {
    return new Side(
        new Side.Access(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
            "us-east-1",
            "key",
            "secret",
            Optional.empty(),
            null),
        8);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      String query = Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
      String name =
          List.of(query.split("&", -1)).stream()
              .map(each -> each.split("=", 2)[0])
              .filter(each -> !List.of("prefix", "encoding-type").contains(each))
              .findFirst()
              .orElse("");
      String request =
          exchange.getRequestMethod()
              + " "
              + exchange.getRequestURI().getPath()
              + (name.isEmpty() ? "" : "?" + name);
      requests.add(request);
      Answer answer = answers.getOrDefault(request, () -> NONE).get();
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Last-Modified", "Fri, 27 Nov 2026 10:00:00 GMT");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(answer.status(), isHead || body.length == 0 ? -1 : body.length);
      if (!isHead) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
