package dev.ashlar.transport;

/**
 * Where a process listens.
 *
 * @param host a name or an address, looked up anew for each connection, so that it may move
 */
public record Endpoint(String host, int port) {
  public Endpoint {
    if (host.isEmpty() || port < 0 || port > 65_535) {
      throw new IllegalArgumentException("not an address: " + host + ":" + port);
    }
  }

  /** Of {@code host:port}; an IPv6 address stands in brackets. */
  public static Endpoint parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("not host:port: " + text);
    }
    String host = text.substring(0, colon);
    boolean isBracketed = host.startsWith("[") && host.endsWith("]");
    try {
      return new Endpoint(
          isBracketed ? host.substring(1, host.length() - 1) : host,
          Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not host:port: " + text, e);
    }
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
