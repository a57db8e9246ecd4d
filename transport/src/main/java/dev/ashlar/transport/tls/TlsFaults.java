package dev.ashlar.transport.tls;

import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** What is said in the log of a connection that TLS has ended. */
public final class TlsFaults {
  /** The first byte of a TLS connection; no message has this number. */
  private static final byte HANDSHAKE_RECORD = 22;

  /** The first byte of what it answers to who has none; likewise. */
  private static final byte ALERT_RECORD = 21;

  /** In front of the alert's name; in front of that some JDKs have its name, too. */
  private static final String ALERT = "Received fatal alert: ";

  private static final byte[] WRONG_PROTOCOL = {ALERT_RECORD, 3, 3, 0, 2, 2, 70};

  private TlsFaults() {}

  /** Whether what comes first on a connection without TLS belongs to one with it. */
  public static boolean isTls(byte first) {
    return first == HANDSHAKE_RECORD || first == ALERT_RECORD;
  }

  /** The end of a connection without TLS at whose other end there is TLS. */
  public static HandshakeException otherSideHasTls() {
    return new HandshakeException(
        HandshakeFault.MALFORMED,
        "the other side uses TLS, this process does not (it has no --cluster-tls-cert)");
  }

  /** What the other side hears where only one of both uses TLS: the record of an alert. */
  public static ByteBuf wrongProtocol() {
    return Unpooled.wrappedBuffer(WRONG_PROTOCOL).asReadOnly();
  }

  /** The end of a connection with TLS. */
  public static IOException explain(SSLException why) {
    if (why instanceof NotSslRecordException) {
      return new HandshakeException(HandshakeFault.MALFORMED, reason(why));
    }
    // That the other side is slow may change; the rest does not by itself.
    return why instanceof SSLHandshakeException && !(why instanceof SslHandshakeTimeoutException)
        ? new HandshakeException(HandshakeFault.NOT_AUTHENTIC, reason(why))
        : new IOException("TLS: " + why.getMessage(), why);
  }

  /** In words of who has files and options before him. */
  static String reason(Throwable why) {
    String message = String.valueOf(why.getMessage());
    if (why instanceof NotSslRecordException) {
      return "the other side does not use TLS, this process does (--cluster-tls-cert)";
    }
    if (find(why, CertificateExpiredException.class) instanceof Exception expired) {
      return "the certificate shown has expired (" + expired.getMessage() + ")";
    }
    if (find(why, CertificateNotYetValidException.class) instanceof Exception early) {
      return "the certificate shown is not valid yet (" + early.getMessage() + ")";
    }
    if (find(why, CertPathBuilderException.class) != null) {
      return "the certificate shown is of no authority that is trusted here";
    }
    if (message.contains("Empty client certificate chain")) {
      return "the other side showed no certificate of an authority that is trusted here";
    }
    if (message.contains(ALERT + "protocol_version")) {
      return "the other side does not use TLS 1.3, or no TLS at all";
    }
    int alert = message.indexOf(ALERT);
    if (alert >= 0) {
      return "the other side refused TLS with this process, its log says why ("
          + message.substring(alert + ALERT.length())
          + ")";
    }
    return message;
  }

  private static @Nullable Throwable find(Throwable why, Class<? extends Throwable> kind) {
    for (Throwable cause = why; cause != null; cause = cause.getCause()) {
      if (kind.isInstance(cause)) {
        return cause;
      }
    }
    return null;
  }
}
