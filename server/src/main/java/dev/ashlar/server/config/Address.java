package dev.ashlar.server.config;

import dev.ashlar.transport.Endpoint;
import java.net.InetSocketAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A host and port to listen on.
 *
 * @param port 0 (any free one) to 65535
 */
public record Address(String host, int port) {
  public Address {
    if (host.isEmpty() || port < 0 || port > 65535) {
      throw new IllegalArgumentException("'" + host + ":" + port + "' is not HOST:PORT");
    }
  }

  static Address parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      return new Address(host, Integer.parseInt(text.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + text + "' is not HOST:PORT", e);
    }
  }

  public InetSocketAddress socketAddress() {
    return new InetSocketAddress(host, port);
  }

  public Endpoint endpoint() {
    return new Endpoint(host, port);
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** For picocli. */
  public static final class Converter implements ITypeConverter<Address> {
    @Override
    public Address convert(String value) {
      try {
        return parse(value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
