package dev.ashlar.bench.codec;

import java.util.Comparator;
import java.util.Objects;
import org.openjdk.jmh.infra.BenchmarkParams;

/** One line of the table: a benchmark with its parameters. */
record CodecRow(String name, String profile, String codec, int bytes)
    implements Comparable<CodecRow> {
  private static final Comparator<CodecRow> ORDER =
      Comparator.comparing(CodecRow::name)
          .thenComparing(CodecRow::codec)
          .thenComparing(CodecRow::bytes)
          .thenComparing(CodecRow::profile);

  static CodecRow of(BenchmarkParams params) {
    String full = params.getBenchmark();
    String name = full.substring(full.lastIndexOf('.', full.lastIndexOf('.') - 1) + 1);
    String bytes =
        params.getParam(params.getParamsKeys().contains("bytes") ? "bytes" : "shardBytes");
    return new CodecRow(
        name.replace("Benchmark", ""),
        orEmpty(params, "profile"),
        orEmpty(params, "codec"),
        Integer.parseInt(bytes));
  }

  private static String orEmpty(BenchmarkParams params, String key) {
    return params.getParamsKeys().contains(key) ? Objects.requireNonNull(params.getParam(key)) : "";
  }

  /** The same work done in a loop in C. */
  CodecRow inC() {
    return new CodecRow(name + "CalledFromC", profile, codec, bytes);
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
  public int compareTo(CodecRow other) {
    return ORDER.compare(this, other);
  }
}
