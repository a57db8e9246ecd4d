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
  /** Of 16 bits each; Java writes all eight of an address. */
  private static final int PREFIX_GROUPS = 4;

  public static Client of(InetSocketAddress remote, boolean encrypted) {
    String address = remote.getAddress().getHostAddress();
    int zone = address.indexOf('%');
    return new Client(zone < 0 ? address : address.substring(0, zone), encrypted);
  }

  /** What one client has to itself: an IPv4 address, or the first 64 bits of an IPv6 address. */
  public String network() {
    int end = -1;
    for (int group = 0; group < PREFIX_GROUPS; group++) {
      end = address.indexOf(':', end + 1);
      if (end < 0) {
        return address;
      }
    }
    return address.substring(0, end);
  }
}
