package dev.ashlar.transport.tls;

import dev.ashlar.protocol.process.BackgroundThread;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mutual TLS of one process with the others of its cluster. Each side presents a certificate of an
 * authority that the other trusts, and the client checks that the certificate matches the host. The
 * files are checked periodically; new contents apply to new connections.
 */
public final class ClusterTls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterTls.class);
  private static final Duration CHECK_PERIOD = Duration.ofSeconds(5);

  private final TlsFiles files;
  private final @Nullable String host;
  private final Clock clock;
  private TlsFiles.TlsTexts taken;
  private volatile TlsIdentity current;

  /** Why the files were refused at the last check; empty: they were accepted. */
  private String refusal = "";

  private String loggedRefusal = "";
  private @Nullable BackgroundThread watch;

  /** Checks the files only when told to. */
  ClusterTls(TlsFiles files, @Nullable String host, Clock clock) throws IOException {
    this.files = files;
    this.host = host;
    this.clock = clock;
    taken = TlsFiles.TlsTexts.read(files);
    current = TlsIdentity.of(files, taken, host, clock.instant());
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
    tls.watch = BackgroundThread.start("tls-files", tls::watch);
    return tls;
  }

  private void watch() throws InterruptedException {
    while (true) {
      Thread.sleep(CHECK_PERIOD);
      try {
        check();
      } catch (RuntimeException e) {
        LOG.error("Checking the TLS files failed; keeping the certificate in use", e);
      }
    }
  }

  /** Adopts the contents of the files if they have changed and are valid. */
  void check() {
    try {
      TlsFiles.TlsTexts now = TlsFiles.TlsTexts.read(files);
      if (!now.equals(taken)) {
        current = TlsIdentity.of(files, now, host, clock.instant());
        taken = now;
        LOG.info("New connections use the certificate {}.", current);
      }
      refusal = "";
      loggedRefusal = "";
    } catch (IOException e) {
      refused(String.valueOf(e.getMessage()));
    }
  }

  /** Files are replaced one by one, so a fault is logged only if the next check finds it too. */
  private void refused(String why) {
    if (why.equals(refusal) && !why.equals(loggedRefusal)) {
      LOG.error("TLS files refused; keeping the certificate {}: {}", current, why);
      loggedRefusal = why;
    }
    refusal = why;
  }

  /** For an accepted connection. */
  public SslContext forAccepting() {
    return current.forAccepting();
  }

  /** For one outgoing connection. */
  public SslContext forConnecting() throws SSLException {
    return current.forConnecting();
  }

  /** When the certificate in use expires. */
  public Instant validUntil() {
    return current.validUntil();
  }

  @Override
  public void close() {
    BackgroundThread.closeIfStarted(watch);
  }
}
