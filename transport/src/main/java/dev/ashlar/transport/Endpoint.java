package dev.ashlar.transport;

import java.net.InetSocketAddress;

/**
 * The address of a process: host and port.
 *
 * @param host a name or an address. Names are resolved for each connection, because hosts may move
 * @param port 0 (any free port) to 65535
 */
public record Endpoint(String host, int port) {
  public Endpoint {
    if (host.isEmpty() || port < 0 || port > 65_535) {
      throw new IllegalArgumentException("'" + host + ":" + port + "' is not HOST:PORT");
    }
  }

  /** Parses {@code HOST:PORT}. An IPv6 address stands in brackets. */
  public static Endpoint parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    boolean isBracketed = host.startsWith("[") && host.endsWith("]");
    try {
      return new Endpoint(
          isBracketed ? host.substring(1, host.length() - 1) : host,
          Integer.parseInt(text.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + text + "' is not HOST:PORT", e);
    }
  }

  /** Resolved now. */
  public InetSocketAddress socketAddress() {
    return new InetSocketAddress(host, port);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
