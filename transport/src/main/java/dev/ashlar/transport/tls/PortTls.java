package dev.ashlar.transport.tls;

import dev.ashlar.protocol.process.BackgroundThread;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the ports for clients: versions 1.2 and 1.3, HTTP/1.1, no client certificates. Each
 * certificate's files are checked periodically; new contents apply to new connections.
 */
public final class PortTls implements AutoCloseable {
  /** For a client to complete its first message, and then the handshake. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);

  private final List<FollowedFiles<ServerCertificate>> certificates = new ArrayList<>();
  private final SslProvider provider;
  private final Duration handshake;
  private final Consumer<String> refusals;
  private @Nullable BackgroundThread watch;

  /** Checks the files only when told to. */
  PortTls(
      List<CertificateFiles> files,
      SslProvider provider,
      Duration handshake,
      Clock clock,
      Consumer<String> refusals)
      throws IOException {
    this.provider = provider;
    this.handshake = handshake;
    this.refusals = refusals;
    for (CertificateFiles each : files) {
      certificates.add(ServerCertificate.follow(each, provider, clock));
    }
  }

  /**
   * Reads the files and follows them until it is closed.
   *
   * @param files at least one certificate. The name that a client asks for selects one; the first
   *     serves clients that ask for no name or an unknown one
   * @param refusals is told why a client was refused, in one line. Clients cause that at any rate
   * @throws IOException naming the file that is wrong
   */
  public static PortTls open(List<CertificateFiles> files, Clock clock, Consumer<String> refusals)
      throws IOException {
    PortTls tls = new PortTls(files, ServerCertificate.PROVIDER, HANDSHAKE, clock, refusals);
    tls.watch = FollowedFiles.watch(tls.certificates);
    return tls;
  }

  /** Adopts the contents of files that have changed and are valid. */
  void check() {
    certificates.forEach(FollowedFiles::check);
  }

  /** Puts TLS in front of all other handlers of an accepted connection. */
  public void secure(ChannelPipeline pipeline) {
    TlsHandlers.addFirst(pipeline, this::select, handshake, refusals);
  }

  /**
   * The certificate for a host.
   *
   * @param host null: the client asks for none
   */
  private SslContext select(@Nullable String host) {
    ServerCertificate chosen = null;
    if (host != null) {
      String name = host.toLowerCase(Locale.ROOT);
      chosen = named(name);
      chosen = chosen == null ? named("*" + name.substring(firstLabel(name))) : chosen;
    }
    return (chosen == null ? certificates.getFirst().current() : chosen).context();
  }

  private static int firstLabel(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? name.length() : dot;
  }

  private @Nullable ServerCertificate named(String name) {
    for (FollowedFiles<ServerCertificate> each : certificates) {
      ServerCertificate certificate = each.current();
      if (certificate.names(name)) {
        return certificate;
      }
    }
    return null;
  }

  /** When the first of the certificates in use expires. */
  public Instant validUntil() {
    return certificates.stream()
        .map(each -> each.current().certified().validUntil())
        .min(Instant::compareTo)
        .orElseThrow();
  }

  /** What encrypts, for people. */
  public String provider() {
    return provider == SslProvider.JDK ? "the JDK (BoringSSL is not available)" : "BoringSSL";
  }

  @Override
  public void close() {
    BackgroundThread.closeIfStarted(watch);
  }
}
