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
 * Mutual TLS of one process with the others of its cluster: each side shows a certificate of an
 * authority that the other trusts, and who connects checks that the certificate is for the host he
 * connects to. The files are looked at again and again; what is new in them is for connections from
 * then on.
 */
public final class ClusterTls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterTls.class);
  private static final Duration LOOK = Duration.ofSeconds(5);

  private final TlsFiles files;
  private final @Nullable String host;
  private final Clock clock;
  private TlsTexts taken;
  private volatile TlsIdentity current;

  /** Why the files were not taken at the last look; empty: they were. */
  private String refusal = "";

  private String saidRefusal = "";
  private @Nullable BackgroundThread watch;

  private ClusterTls(TlsFiles files, @Nullable String host, Clock clock) throws IOException {
    this.files = files;
    this.host = host;
    this.clock = clock;
    taken = TlsTexts.read(files);
    current = TlsIdentity.of(files, taken, host, clock.instant());
  }

  /**
   * Reads the files and follows them until it is closed.
   *
   * @param host under which others connect to this process; null: nobody does
   * @throws IOException naming the file in which something is wrong
   */
  public static ClusterTls open(TlsFiles files, @Nullable String host, Clock clock)
      throws IOException {
    ClusterTls tls = unwatched(files, host, clock);
    tls.watch = BackgroundThread.start("tls-files", tls::watch);
    return tls;
  }

  /** Looks only when it is told to. */
  static ClusterTls unwatched(TlsFiles files, @Nullable String host, Clock clock)
      throws IOException {
    return new ClusterTls(files, host, clock);
  }

  private void watch() throws InterruptedException {
    while (true) {
      Thread.sleep(LOOK);
      try {
        look();
      } catch (RuntimeException e) {
        LOG.error("TLS files as before", e);
      }
    }
  }

  /** Takes what the files hold if it is something else, and right. */
  void look() {
    try {
      TlsTexts now = TlsTexts.read(files);
      if (!now.equals(taken)) {
        current = TlsIdentity.of(files, now, host, clock.instant());
        taken = now;
        LOG.info("new connections have the certificate {}", current);
      }
      refusal = "";
      saidRefusal = "";
    } catch (IOException e) {
      refused(String.valueOf(e.getMessage()));
    }
  }

  /** Files are replaced one after the other: only what is still wrong at the next look is said. */
  private void refused(String why) {
    if (why.equals(refusal) && !why.equals(saidRefusal)) {
      LOG.error("connections go on with the certificate {}: {}", current, why);
      saidRefusal = why;
    }
    refusal = why;
  }

  /** For the next connection that is accepted. */
  public SslContext forAccepting() {
    return current.forAccepting();
  }

  /** For one connection that is made. */
  public SslContext forConnecting() throws SSLException {
    return current.forConnecting();
  }

  /** When the certificate that connections are made with expires. */
  public Instant validUntil() {
    return current.validUntil();
  }

  @Override
  public void close() {
    BackgroundThread running = watch;
    if (running != null) {
      running.close();
    }
  }
}
