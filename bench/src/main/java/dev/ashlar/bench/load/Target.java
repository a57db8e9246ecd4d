package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import java.net.URI;

/** The bucket that is loaded, and who does it. */
public record Target(
    String host, int port, String accessKey, String secretKey, String region, String bucket) {
  private static final int HTTP_PORT = 80;

  /**
   * @param endpoint {@code http://host:port}
   */
  public static Target of(
      URI endpoint, String accessKey, String secretKey, String region, String bucket) {
    if (!"http".equals(endpoint.getScheme()) || endpoint.getHost() == null) {
      throw new BenchException("An endpoint looks like http://127.0.0.1:9000, not " + endpoint);
    }
    int port = endpoint.getPort() < 0 ? HTTP_PORT : endpoint.getPort();
    return new Target(endpoint.getHost(), port, accessKey, secretKey, region, bucket);
  }

  String hostHeader() {
    return port == HTTP_PORT ? host : host + ":" + port;
  }

  String path(String key) {
    return "/" + bucket + "/" + key;
  }
}
