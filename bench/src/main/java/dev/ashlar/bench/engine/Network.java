package dev.ashlar.bench.engine;

import dev.ashlar.transport.tls.ClusterTls;
import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * TCP on loopback between an engine and its drives, each of which has a storage node of its own.
 *
 * @param tls what both sides show and trust; null: no TLS
 */
public record Network(@Nullable ClusterTls tls) implements AutoCloseable {
  /** Where the nodes are. */
  static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

  static Network withoutTls() {
    return new Network(null);
  }

  /**
   * @throws IOException naming the file in which something is wrong
   */
  static Network with(TlsFiles files) throws IOException {
    return new Network(ClusterTls.open(files, ADDRESS.getHostAddress(), Clock.systemUTC()));
  }

  @Override
  public void close() {
    if (tls != null) {
      tls.close();
    }
  }
}
