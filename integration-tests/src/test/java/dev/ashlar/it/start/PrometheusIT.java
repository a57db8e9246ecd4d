package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** The alert rules and the dashboard in a real Prometheus, where that is installed. */
@ExtendWith(SharedServer.class)
class PrometheusIT {
  private static final Path FILES = Launch.launcher().resolveSibling("helm/ashlar/files");

  /** Metrics that a healthy server has only after a while, or never. */
  private static final List<String> SELDOM =
      List.of("ashlar_repair_debt_level_blobs", "jvm_gc_pause_seconds_sum");

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void everyRuleAndPanelFindsItsMetrics(ServerProcess server, @TempDir Path folder)
      throws Exception {
    assumeTrue(Commands.isInstalled("prometheus"), "prometheus is not installed");
    useEverything(server);
    int port = freePort();
    Path configuration = folder.resolve("prometheus.yml");
    Files.writeString(
        configuration,
        """
        global: {scrape_interval: 1s, evaluation_interval: 1s}
        rule_files: ['%s']
        scrape_configs:
          - job_name: ashlar
            metrics_path: /prometheus
            static_configs: [{targets: ['127.0.0.1:%d']}]
        """
            .formatted(FILES.resolve("alerts.yaml"), server.management("/").getPort()));
    Process prometheus =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    try (Prometheus page = new Prometheus(port)) {
      Await.until("Prometheus has read the server twice", () -> page.hasReadTwice());
      useEverything(server);
      Set<String> empty = new TreeSet<>();
      List<String> queries = panelQueries();
      Await.until(
          "every panel shows something: " + empty,
          () -> {
            empty.clear();
            useEverything(server);
            for (String query : queries) {
              if (page.result(query).isEmpty()) {
                empty.add(query);
              }
            }
            return empty.isEmpty();
          });
      Await.until("all rules are evaluated", () -> page.evaluatedRules() > 15);
      page.checkRules();
    } finally {
      prometheus.destroy();
      prometheus.waitFor();
    }
  }

  /** Something for every panel, errors included. */
  private static void useEverything(ServerProcess server) {
    try (S3Client s3 = Clients.sync(server)) {
      s3.createBucket(bucket -> bucket.bucket("shown"));
      s3.putObject(put -> put.bucket("shown").key("key"), RequestBody.fromString("text"));
      s3.getObjectAsBytes(get -> get.bucket("shown").key("key"));
      s3.getObjectAsBytes(get -> get.bucket("shown").key("missing"));
    } catch (NoSuchKeyException expected) {
      assertEquals(404, expected.statusCode());
    }
  }

  /** The queries of the dashboard, with its variables set. */
  private static List<String> panelQueries() throws IOException {
    List<String> queries = new ArrayList<>();
    for (JsonNode panel : JSON.readTree(FILES.resolve("dashboard.json").toFile()).get("panels")) {
      for (JsonNode target : panel.path("targets")) {
        String query = target.get("expr").asText();
        if (SELDOM.stream().noneMatch(query::contains)) {
          queries.add(query.replace("$job", "ashlar").replace("$__rate_interval", "30s"));
        }
      }
    }
    assertTrue(queries.size() > 30, queries.toString());
    return queries;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** The API of a Prometheus. */
  private record Prometheus(int port, HttpClient http) implements AutoCloseable {
    Prometheus(int port) {
      this(port, HttpClient.newHttpClient());
    }

    private JsonNode get(String path) throws Exception {
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + path))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == 503) {
        throw new IOException("Prometheus is still starting");
      }
      assertEquals(200, answer.statusCode(), () -> path + ": " + answer.body());
      return JSON.readTree(answer.body()).get("data");
    }

    JsonNode result(String query) throws Exception {
      return get("query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8)).get("result");
    }

    boolean hasReadTwice() throws Exception {
      try {
        JsonNode reads = result("count_over_time(up[1m])");
        return !reads.isEmpty() && reads.get(0).get("value").get(1).asInt() >= 2;
      } catch (IOException starting) {
        return false;
      }
    }

    private List<JsonNode> rules() throws Exception {
      List<JsonNode> rules = new ArrayList<>();
      for (JsonNode group : get("rules").get("groups")) {
        group.get("rules").forEach(rules::add);
      }
      return rules;
    }

    long evaluatedRules() throws Exception {
      return rules().stream()
          .filter(rule -> !rule.get("health").asText().equals("unknown"))
          .count();
    }

    /** No rule has a fault, or fires on a healthy server. */
    void checkRules() throws Exception {
      for (JsonNode rule : rules()) {
        assertEquals("ok", rule.get("health").asText(), rule::toString);
        assertEquals("inactive", rule.get("state").asText(), rule::toString);
      }
    }

    @Override
    public void close() {
      http.close();
    }
  }
}
