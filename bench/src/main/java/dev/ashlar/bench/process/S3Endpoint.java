package dev.ashlar.bench.process;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A server to which requests are sent.
 *
 * @param process whose CPU time and memory are noted; null: it is elsewhere, or not known
 */
public record S3Endpoint(
    URI url, String accessKey, String secretKey, String region, @Nullable ProcessHandle process) {
  public S3Endpoint {
    boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    boolean isBare = url.getPath() == null || url.getPath().isEmpty() || url.getPath().equals("/");
    if (!isHttp || url.getHost() == null || url.getUserInfo() != null || !isBare) {
      throw new BenchException("'" + url + "' is no endpoint, like http://host:9000");
    }
  }

  /** One that was started here. */
  public static S3Endpoint of(ServerProcess server, int port) {
    URI url = URI.create("http://" + Launch.HOST + ":" + port);
    return new S3Endpoint(url, Launch.ACCESS_KEY, Launch.SECRET_KEY, "us-east-1", server.handle());
  }

  public boolean isTls() {
    return "https".equals(url.getScheme());
  }

  public int port() {
    return url.getPort() >= 0 ? url.getPort() : isTls() ? 443 : 80;
  }

  @Override
  public String toString() {
    return url.toString();
  }
}
