package dev.ashlar.bench.process;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a server says about itself on its management port. */
public final class ManagementPage {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int OK = 200;
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();

  private final URI management;

  /**
   * @param management {@code http://host:port}
   * @throws BenchException when it is something else
   */
  public ManagementPage(URI management) {
    if (!"http".equals(management.getScheme()) || management.getHost() == null) {
      throw new BenchException(
          "A management port looks like http://127.0.0.1:9001, not " + management);
    }
    this.management = management;
  }

  /** One reading of the metrics, or null when the server does not answer. */
  public @Nullable Metrics metrics() throws InterruptedException {
    try {
      HttpResponse<String> answer =
          HTTP.send(
              HttpRequest.newBuilder(management.resolve("/prometheus")).timeout(TIMEOUT).build(),
              BodyHandlers.ofString());
      return answer.statusCode() == OK ? new Metrics(answer.body()) : null;
    } catch (IOException e) {
      return null; // not listening
    }
  }

  /**
   * The same of one that has to answer.
   *
   * @throws BenchException when it does not
   */
  public Metrics requiredMetrics() throws InterruptedException {
    Metrics metrics = metrics();
    if (metrics == null) {
      throw new BenchException("There are no metrics at " + management.resolve("/prometheus"));
    }
    return metrics;
  }

  /** The page in Prometheus' format. */
  public record Metrics(String page) {
    private static final Pattern REQUESTS =
        Pattern.compile(
            "^ashlar_s3_requests_total\\{.*operation=\"(\\w+)\".*} ([0-9.eE+]+)$",
            Pattern.MULTILINE);

    /** Answered requests by operation, all statuses together. */
    public Map<String, Long> requests() {
      Map<String, Long> requests = new TreeMap<>();
      Matcher line = REQUESTS.matcher(page);
      while (line.find()) {
        requests.merge(line.group(1), (long) Double.parseDouble(line.group(2)), Long::sum);
      }
      return requests;
    }

    /**
     * The sum over the rows of a metric; NaN when it is not there.
     *
     * @param label that a row must have, as {@code area="heap"}, or the empty string
     */
    public double sum(String name, String label) {
      double sum = Double.NaN;
      for (String line : (Iterable<String>) page.lines()::iterator) {
        boolean isIt = line.startsWith(name + "{") || line.startsWith(name + " ");
        if (isIt && line.contains(label)) {
          double value = Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
          sum = Double.isNaN(sum) ? value : sum + value;
        }
      }
      return sum;
    }
  }
}
