package dev.ashlar.it.harness;

/** One reading of the server's metrics page. */
public record Metrics(String page) {
  public static Metrics of(ServerProcess server) {
    return new Metrics(server.prometheus());
  }

  /** The rounded sum of a metric over all its labels. */
  public long sum(String name) {
    return Math.round(value(name));
  }

  /** The sum of a metric over all its labels; a metric that is not there is a failure. */
  public double value(String name) {
    double sum = 0;
    boolean found = false;
    for (String line : page.lines().toList()) {
      if (line.startsWith(name + "{") || line.startsWith(name + " ")) {
        sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        found = true;
      }
    }
    if (!found) {
      throw new AssertionError("no metric " + name);
    }
    return sum;
  }

  public long since(Metrics before, String name) {
    return sum(name) - before.sum(name);
  }
}
