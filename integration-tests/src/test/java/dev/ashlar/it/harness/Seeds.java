package dev.ashlar.it.harness;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;

/** Seeds of randomised tests: printed, and given back by {@code -Dashlar.seed}. */
public final class Seeds {
  private static final Map<String, Long> USED = new TreeMap<>();

  private Seeds() {}

  /** A seed for this test: the one asked for, else a fresh one. */
  public static long seed(String test) {
    return seed(test, "ashlar.seed");
  }

  /** The same with a property of the test's own. */
  public static synchronized long seed(String test, String property) {
    Long wanted = Long.getLong(property);
    long seed = wanted != null ? wanted : ThreadLocalRandom.current().nextLong(1L << 48);
    USED.put(test, seed);
    System.out.println(test + ": replay with -D" + property + "=" + seed);
    return seed;
  }

  static synchronized String used() {
    return "seeds: " + USED;
  }
}
