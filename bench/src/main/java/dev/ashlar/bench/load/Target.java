package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.S3Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * The bucket that is loaded.
 *
 * @param storageClass of the objects that are put; null: that of the bucket
 */
public record Target(S3Endpoint server, String bucket, @Nullable String storageClass) {
  public Target {
    if (server.isTls()) {
      throw new BenchException(
          "load has no TLS: an endpoint looks like http://127.0.0.1:9000, not " + server.url());
    }
  }

  String hostHeader() {
    String host = server.url().getHost();
    return server.port() == 80 ? host : host + ":" + server.port();
  }

  String path() {
    return "/" + bucket;
  }

  String path(String key) {
    return "/" + bucket + "/" + key;
  }
}
