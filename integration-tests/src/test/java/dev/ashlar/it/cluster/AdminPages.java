package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Predicate;

/** What a gateway tells administrators, and does for them. */
final class AdminPages {
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final int LOOKS = 900;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ClusterNodes nodes;
  private final String gateway;

  /** Of the first gateway. */
  AdminPages(ClusterNodes nodes) {
    this(nodes, 1);
  }

  AdminPages(ClusterNodes nodes, int gateway) {
    this.nodes = nodes;
    this.gateway = "gateway-" + gateway;
  }

  /**
   * Has something done.
   *
   * @param what as {@code drain?target=storage-1}
   */
  void require(String what) throws IOException, InterruptedException {
    HttpResponse<String> answer = ask(what);
    assertEquals(200, answer.statusCode(), answer.body());
  }

  /** Asks for something to be done, which may be refused. */
  HttpResponse<String> ask(String what) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(address(what))
            .header("X-Ashlar-Admin", "1")
            .POST(HttpRequest.BodyPublishers.noBody()));
  }

  /** Waits until the page is like this. */
  void await(String page, Predicate<String> condition, String what)
      throws IOException, InterruptedException {
    String last = "";
    for (int i = 0; i < LOOKS; i++) {
      last = send(HttpRequest.newBuilder(address(page))).body();
      if (condition.test(last)) {
        return;
      }
      ServerProcess.pause(PAUSE);
    }
    throw nodes.failed("not " + what + ": " + last);
  }

  /** Waits until everything is there, all of it protected, and nothing is to be moved. */
  void awaitWhole() throws IOException, InterruptedException {
    nodes
        .node(gateway)
        .awaitHealth(
            page -> page.contains("\"status\":\"UP\"") && page.contains("\"debtBlobs\":0,"));
    await("rebalance", AdminPages::isDone, "all in its place");
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Of the management port. */
  URI address(String path) {
    return nodes.node(gateway).healthPage().resolve("/admin/" + path);
  }

  static boolean isDone(String rebalance) {
    return rebalance.contains("\"known\":true") && rebalance.contains("\"blobs\":0");
  }

  static boolean isEmpty(String drives, String node) {
    return row(drives, node).contains("\"empty\":true");
  }

  static boolean hasFailed(String drives, String node) {
    return row(drives, node).contains("\"failed\":true");
  }

  static long slots(String drives, String node) {
    String row = row(drives, node);
    return row.isEmpty() ? 0 : Long.parseLong(row.replaceAll(".*\"slots\":(\\d+).*", "$1"));
  }

  static String standing(String drives, String node) {
    return row(drives, node).replaceAll(".*\"standing\":\"(\\w+)\".*", "$1");
  }

  /** The JSON of the node's only drive. */
  private static String row(String drives, String node) {
    for (String row : drives.split("\\},", -1)) {
      if (row.contains("\"node\":\"" + node + "\"")) {
        return row;
      }
    }
    return "";
  }
}
