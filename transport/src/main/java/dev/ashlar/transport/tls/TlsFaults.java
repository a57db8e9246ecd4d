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

/** Explains why TLS ended a connection. */
public final class TlsFaults {
  /** The first byte of a TLS connection; no message type has this number. */
  private static final byte HANDSHAKE_RECORD = 22;

  /** The first byte of a TLS alert; likewise. */
  private static final byte ALERT_RECORD = 21;

  /** Precedes the alert's name in messages; some JDKs write the name before it too. */
  private static final String ALERT = "Received fatal alert: ";

  private static final byte[] WRONG_PROTOCOL = {ALERT_RECORD, 3, 3, 0, 2, 2, 70};

  private TlsFaults() {}

  /** Whether a connection that begins with this byte uses TLS. */
  public static boolean isTls(byte first) {
    return first == HANDSHAKE_RECORD || first == ALERT_RECORD;
  }

  /** For a connection on which only the other side uses TLS. */
  public static HandshakeException otherSideHasTls() {
    return new HandshakeException(
        HandshakeFault.MALFORMED,
        "the other side uses TLS, this process does not (it has no --cluster-tls-cert)");
  }

  /** The alert that a side receives when only one of both uses TLS. */
  public static ByteBuf wrongProtocol() {
    return Unpooled.wrappedBuffer(WRONG_PROTOCOL).asReadOnly();
  }

  /** Explains the end of a connection with TLS. */
  public static IOException explain(SSLException why) {
    if (why instanceof NotSslRecordException) {
      return new HandshakeException(HandshakeFault.MALFORMED, reason(why));
    }
    // A slow peer may recover; all other causes need an operator.
    return why instanceof SSLHandshakeException && !(why instanceof SslHandshakeTimeoutException)
        ? new HandshakeException(HandshakeFault.NOT_AUTHENTIC, reason(why))
        : new IOException("TLS: " + why.getMessage(), why);
  }

  /** In terms of files and options. */
  static String reason(Throwable why) {
    String message = String.valueOf(why.getMessage());
    if (why instanceof NotSslRecordException) {
      return "the other side does not use TLS, this process does (--cluster-tls-cert)";
    }
    if (find(why, CertificateExpiredException.class) instanceof Exception expired) {
      return "the presented certificate has expired (" + expired.getMessage() + ")";
    }
    if (find(why, CertificateNotYetValidException.class) instanceof Exception early) {
      return "the presented certificate is not valid yet (" + early.getMessage() + ")";
    }
    if (find(why, CertPathBuilderException.class) != null) {
      return "the presented certificate is from no authority that this process trusts";
    }
    if (message.contains("Empty client certificate chain")) {
      return "the other side presented no certificate of an authority that this process trusts";
    }
    if (message.contains(ALERT + "protocol_version")) {
      return "the other side does not use TLS 1.3, or no TLS at all";
    }
    int alert = message.indexOf(ALERT);
    if (alert >= 0) {
      return "the other side refused this process during the TLS handshake; see its log ("
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
