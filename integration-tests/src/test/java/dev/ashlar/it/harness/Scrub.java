package dev.ashlar.it.harness;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Scrubs of all drives of a process, started through its management port. */
public final class Scrub {
  private static final Duration DEADLINE = Duration.ofMinutes(5);
  private static final String PATH = "/scrub";
  private static final String STARTED = "startedMs\":(\\d+),\"finishedMs";

  private final Supplier<String> page;
  private final Function<String, HttpResponse<String>> post;

  public Scrub(ServerProcess server) {
    this(() -> server.page(PATH), header -> server.post(PATH, header));
  }

  /** Of a storage node. */
  public Scrub(NodeProcess node) {
    this(() -> node.page(PATH), header -> node.post(PATH, header));
  }

  private Scrub(Supplier<String> page, Function<String, HttpResponse<String>> post) {
    this.page = page;
    this.post = post;
  }

  /** Has all drives and all metadata read, and returns the number of damaged blocks found. */
  public long run() throws Exception {
    Await.until("no scrub is running", DEADLINE, () -> !page().contains("\"running\":true"));
    long before = sum(STARTED, page());
    HttpResponse<String> refused = post.apply("");
    if (refused.statusCode() != 403) {
      throw new AssertionError("a scrub without the admin header: " + refused);
    }
    HttpResponse<String> started = post.apply("1");
    if (started.statusCode() != 200) {
      throw new AssertionError(started + started.body());
    }
    Await.until(
        "all drives are scrubbed",
        DEADLINE,
        () -> {
          String page = page();
          return sum(STARTED, page) > before
              && !page.contains("\"running\":true")
              && !page.contains("\"light\":null");
        });
    return sum("damagedBlocks\":(\\d+)", page());
  }

  /** What earlier runs had left on the drives, and the last scrub removed. */
  public long orphans() {
    return sum("orphansRemoved\":(\\d+)", page());
  }

  private String page() {
    return page.get();
  }

  private static long sum(String pattern, String page) {
    Matcher found = Pattern.compile(pattern).matcher(page);
    long sum = 0;
    boolean isThere = false;
    while (found.find()) {
      sum += Long.parseLong(found.group(1));
      isThere = true;
    }
    if (!isThere) {
      throw new AssertionError(pattern + " is not in " + page);
    }
    return sum;
  }
}
