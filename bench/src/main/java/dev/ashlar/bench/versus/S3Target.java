package dev.ashlar.bench.versus;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.Launch;
import dev.ashlar.bench.process.ServerProcess;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where warp sends its requests.
 *
 * @param process whose CPU time and memory are noted; null: it is elsewhere, or not known
 */
record S3Target(
    URI url, String accessKey, String secretKey, String region, @Nullable ProcessHandle process) {
  S3Target {
    boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    boolean isBare = url.getPath() == null || url.getPath().isEmpty() || url.getPath().equals("/");
    if (!isHttp || url.getHost() == null || url.getUserInfo() != null || !isBare) {
      throw new BenchException("'" + url + "' is no endpoint, like http://host:9000");
    }
  }

  /** One that was started here. */
  static S3Target of(ServerProcess server, int port) {
    return new S3Target(
        URI.create("http://" + Launch.HOST + ":" + port),
        Launch.ACCESS_KEY,
        Launch.SECRET_KEY,
        "us-east-1",
        server.handle());
  }

  boolean isTls() {
    return "https".equals(url.getScheme());
  }

  String hostAndPort() {
    int port = url.getPort() >= 0 ? url.getPort() : isTls() ? 443 : 80;
    return url.getHost() + ":" + port;
  }

  /** For warp: what is in the environment is not shown to other users, as arguments are. */
  Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    environment.put("WARP_ACCESS_KEY", accessKey);
    environment.put("WARP_SECRET_KEY", secretKey);
    environment.put("WARP_REGION", region);
    return environment;
  }

  @Override
  public String toString() {
    return url.toString();
  }
}
