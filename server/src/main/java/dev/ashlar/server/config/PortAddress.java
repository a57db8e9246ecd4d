package dev.ashlar.server.config;

import dev.ashlar.transport.Endpoint;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;

/** The address of an HTTP port: where it listens, or where it is reached. */
public record PortAddress(Scheme scheme, Endpoint endpoint) {
  /** Whether the port uses TLS. */
  public enum Scheme {
    HTTP,
    HTTPS,
    /** That depends on whether there is a certificate. */
    NOT_GIVEN
  }

  /** Parses {@code HOST:PORT}, {@code http://HOST:PORT} or {@code https://HOST:PORT}. */
  public static PortAddress parse(String text) {
    for (Scheme scheme : new Scheme[] {Scheme.HTTP, Scheme.HTTPS}) {
      String prefix = prefix(scheme);
      if (text.startsWith(prefix)) {
        return new PortAddress(scheme, Endpoint.parse(text.substring(prefix.length())));
      }
    }
    if (text.contains("/")) {
      throw new IllegalArgumentException(
          "'" + text + "' is not HOST:PORT, http://HOST:PORT or https://HOST:PORT");
    }
    return new PortAddress(Scheme.NOT_GIVEN, Endpoint.parse(text));
  }

  /** With a scheme: this one where none is given. */
  public PortAddress orElse(Scheme other) {
    return scheme == Scheme.NOT_GIVEN ? new PortAddress(other, endpoint) : this;
  }

  public boolean isTls() {
    return scheme == Scheme.HTTPS;
  }

  /** Whether only this machine reaches it. */
  public boolean isLoopback() {
    try {
      return InetAddress.getByName(endpoint.host()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static String prefix(Scheme scheme) {
    return scheme == Scheme.NOT_GIVEN ? "" : scheme.name().toLowerCase(Locale.ROOT) + "://";
  }

  @Override
  public String toString() {
    return prefix(scheme) + endpoint;
  }
}
