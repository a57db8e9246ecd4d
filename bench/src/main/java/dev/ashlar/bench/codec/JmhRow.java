package dev.ashlar.bench.codec;

import java.util.Comparator;
import java.util.Locale;
import java.util.Objects;
import org.openjdk.jmh.infra.BenchmarkParams;

/** One line of the table: a benchmark with its parameters. */
record JmhRow(String name, String profile, String codec, int bytes) implements Comparable<JmhRow> {
  private static final Comparator<JmhRow> ORDER =
      Comparator.comparing(JmhRow::name)
          .thenComparing(JmhRow::codec)
          .thenComparing(JmhRow::bytes)
          .thenComparing(JmhRow::profile);

  static JmhRow of(BenchmarkParams params) {
    String full = params.getBenchmark();
    String name = full.substring(full.lastIndexOf('.', full.lastIndexOf('.') - 1) + 1);
    String bytes =
        params.getParam(params.getParamsKeys().contains("bytes") ? "bytes" : "shardBytes");
    return new JmhRow(
        name.replace("Benchmark", ""),
        orEmpty(params, "profile"),
        orEmpty(params, "codec"),
        Integer.parseInt(bytes));
  }

  private static String orEmpty(BenchmarkParams params, String key) {
    return params.getParamsKeys().contains(key) ? Objects.requireNonNull(params.getParam(key)) : "";
  }

  /** Of its results: that of its profile, or of all that have none. */
  String folder() {
    return profile.isEmpty() ? "no-profile" : profile;
  }

  String step() {
    return name + (codec.isEmpty() ? "" : "-" + codec.toLowerCase(Locale.ROOT)) + "-" + bytes;
  }

  /** The same work done in a loop in C. */
  JmhRow inC() {
    return new JmhRow(name + "CalledFromC", profile, codec, bytes);
  }

  /** All data shards for encoding and decoding, all messages of MD5, one shard for the rest. */
  long inputBytes() {
    int abreast = name.indexOf(".md5Times");
    if (abreast >= 0) {
      return (long) bytes
          * Integer.parseInt(name, abreast + ".md5Times".length(), name.length(), 10);
    }
    boolean allShards = name.startsWith("Encode") || name.endsWith("decode");
    return allShards ? (long) bytes * CodeShape.parse(profile).dataShards() : bytes;
  }

  @Override
  public int compareTo(JmhRow other) {
    return ORDER.compare(this, other);
  }
}
