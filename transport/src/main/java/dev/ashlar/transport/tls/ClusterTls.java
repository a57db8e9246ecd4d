package dev.ashlar.transport.tls;

import dev.ashlar.protocol.process.BackgroundThread;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Mutual TLS of one process with the others of its cluster. Each side presents a certificate of an
 * authority that the other trusts, and the client checks that the certificate matches the host. The
 * files are checked periodically; new contents apply to new connections.
 */
public final class ClusterTls implements AutoCloseable {
  private final FollowedFiles<TlsIdentity> identity;
  private @Nullable BackgroundThread watch;

  /** Checks the files only when told to. */
  ClusterTls(TlsFiles files, @Nullable String host, Clock clock) throws IOException {
    identity = TlsIdentity.follow(files, host, clock);
  }

  /**
   * Reads the files and follows them until it is closed.
   *
   * @param host by which others connect to this process; null: none do
   * @throws IOException naming the file that is wrong
   */
  public static ClusterTls open(TlsFiles files, @Nullable String host, Clock clock)
      throws IOException {
    ClusterTls tls = new ClusterTls(files, host, clock);
    tls.watch = FollowedFiles.watch(List.of(tls.identity));
    return tls;
  }

  /** Adopts the contents of the files if they have changed and are valid. */
  void check() {
    identity.check();
  }

  /** For an accepted connection. */
  public SslContext forAccepting() {
    return identity.current().forAccepting();
  }

  /** For one outgoing connection. */
  public SslContext forConnecting() throws SSLException {
    return identity.current().forConnecting();
  }

  /** When the certificate in use expires. */
  public Instant validUntil() {
    return identity.current().validUntil();
  }

  @Override
  public void close() {
    BackgroundThread.closeIfStarted(watch);
  }
}
