package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.S3Endpoint;

/** The bucket that is loaded. */
public record Target(S3Endpoint server, String bucket) {
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
