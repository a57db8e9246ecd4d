package dev.ashlar.gateway.exchange;

import java.net.InetSocketAddress;

/**
 * Where a request comes from.
 *
 * @param address of the other end of the connection, IPv4 or IPv6, without port and zone; a proxy's
 *     own if there is one in between
 * @param encrypted the connection is a TLS connection
 */
public record Client(String address, boolean encrypted) {
  public static Client of(InetSocketAddress remote, boolean encrypted) {
    String address = remote.getAddress().getHostAddress();
    int zone = address.indexOf('%');
    return new Client(zone < 0 ? address : address.substring(0, zone), encrypted);
  }
}
