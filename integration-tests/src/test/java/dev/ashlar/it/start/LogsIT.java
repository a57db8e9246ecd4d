package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The audit log and the log as collectors read them. */
class LogsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  @TempDir private Path folder = Path.of("");

  private String requestId(ServerProcess server, String path) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(server.endpoint().resolve(path)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertEquals(404, answer.statusCode(), answer::body);
    return answer.headers().firstValue("x-amz-request-id").orElseThrow();
  }

  private static List<JsonNode> lines(Path file) throws Exception {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }

  private static JsonNode awaitLine(Path file, String name, String value) throws Exception {
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < DEADLINE.toNanos()) {
      if (Files.exists(file)) {
        for (JsonNode line : lines(file)) {
          if (line.path(name).asText().equals(value)) {
            return line;
          }
        }
      }
      ServerProcess.pause(Duration.ofMillis(20));
    }
    throw new AssertionError("no line with " + name + " " + value);
  }

  @Test
  void requestsAndCommandsAreInTheAuditLogAlsoAfterItsRotation() throws Exception {
    Path file = folder.resolve("audit.log");
    Path rotated = folder.resolve("audit.log.1");
    ServerSpec spec =
        ServerSpec.named("logs").withOptions("--audit-log=" + file, "--log-format=json");
    try (ServerProcess server = ServerProcess.start(spec)) {
      String first = requestId(server, "/bucket/key");
      JsonNode request = awaitLine(file, "requestId", first);
      assertEquals("GetObject", request.get("operation").asText());
      assertEquals("anonymous", request.get("principal").asText());
      assertEquals("127.0.0.1", request.get("remote").asText());
      JsonNode created =
          JSON.readTree(server.administer("account-create?name=Research&id=111122223333").body());
      JsonNode command = awaitLine(file, "operation", "admin:account-create");
      assertEquals("management", command.get("port").asText());
      assertEquals("allowed", command.get("decision").asText());
      assertEquals("Research", command.get("parameters").get("name").asText());
      server.adminPage("status");
      server.adminPage("diagnosis");
      awaitLine(file, "operation", "admin:diagnosis");
      Files.move(file, rotated);
      String second = requestId(server, "/bucket/other");
      awaitLine(file, "requestId", second);
      assertEquals(1, lines(file).size());
      server.stop();
      assertEquals(3, lines(rotated).size(), "pages that only show something are not in it");
      String secretKey = created.findPath("secretKey").asText();
      assertTrue(secretKey.length() >= 40, "an answer without a secret");
      assertFalse(Files.readString(rotated).contains(secretKey), "of the account's key");
      List<String> logged = server.log().lines().filter(line -> line.startsWith("{")).toList();
      assertFalse(logged.isEmpty(), server::log);
      assertTrue(logged.stream().allMatch(LogsIT::isLine), server::log);
    }
  }

  private static boolean isLine(String text) {
    try {
      JsonNode line = JSON.readTree(text);
      return line.has("time") && line.has("level") && line.has("message");
    } catch (java.io.IOException e) {
      return false;
    }
  }
}
