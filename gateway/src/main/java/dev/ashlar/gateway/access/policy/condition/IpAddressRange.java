package dev.ashlar.gateway.access.policy.condition;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A range of IPv4 or IPv6 addresses in CIDR notation. An IPv4 address that is written as an IPv6
 * address, ::ffff:192.0.2.1, is the IPv4 address: a policy must not depend on the kind of socket.
 *
 * @param first the lowest address of the range
 * @param prefixBits how many leading bits all addresses of the range have in common
 */
record IpAddressRange(Address first, int prefixBits) {
  /**
   * @param bits 32 or 128
   */
  record Address(BigInteger value, int bits) {}

  private static final Pattern V4 =
      Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");
  private static final Pattern V6_GROUP = Pattern.compile("[0-9a-fA-F]{1,4}");
  private static final Pattern PREFIX = Pattern.compile("0|[1-9]\\d{0,2}");
  private static final int V6_GROUPS = 8;
  private static final int V6_CHARACTERS_MAX = 45;
  private static final int V4_BITS = 32;
  private static final int V6_BITS = 128;

  /** ::ffff:0:0/96 */
  private static final BigInteger MAPPED_PREFIX = BigInteger.valueOf(0xffff);

  static Optional<IpAddressRange> parse(String text) {
    int slash = text.indexOf('/');
    Optional<Address> written = parseAsWritten(slash < 0 ? text : text.substring(0, slash));
    if (written.isEmpty()) {
      return Optional.empty();
    }
    Address address = written.get();
    String prefix = slash < 0 ? Integer.toString(address.bits) : text.substring(slash + 1);
    if (!PREFIX.matcher(prefix).matches() || Integer.parseInt(prefix) > address.bits) {
      return Optional.empty();
    }
    return Optional.of(of(address, Integer.parseInt(prefix)));
  }

  private static IpAddressRange of(Address address, int prefixBits) {
    Address unmapped = unmap(address);
    if (unmapped.bits < address.bits && prefixBits >= V6_BITS - V4_BITS) {
      return masked(unmapped, prefixBits - (V6_BITS - V4_BITS));
    }
    return masked(address, prefixBits);
  }

  private static IpAddressRange masked(Address address, int prefixBits) {
    int hostBits = address.bits - prefixBits;
    BigInteger first = address.value.shiftRight(hostBits).shiftLeft(hostBits);
    return new IpAddressRange(new Address(first, address.bits), prefixBits);
  }

  static Optional<Address> parseAddress(String text) {
    return parseAsWritten(text).map(IpAddressRange::unmap);
  }

  boolean isV4() {
    return first.bits == V4_BITS;
  }

  boolean contains(Address address) {
    int hostBits = first.bits - prefixBits;
    return address.bits == first.bits
        && address.value.shiftRight(hostBits).equals(first.value.shiftRight(hostBits));
  }

  private static Address unmap(Address address) {
    boolean isMapped =
        address.bits == V6_BITS && address.value.shiftRight(V4_BITS).equals(MAPPED_PREFIX);
    return isMapped
        ? new Address(BigInteger.valueOf(address.value.intValue() & 0xffffffffL), V4_BITS)
        : address;
  }

  private static Optional<Address> parseAsWritten(String text) {
    if (text.length() > V6_CHARACTERS_MAX) {
      return Optional.empty();
    }
    return text.indexOf(':') < 0
        ? parseV4(text).map(value -> new Address(BigInteger.valueOf(value), V4_BITS))
        : parseV6(text);
  }

  private static Optional<Long> parseV4(String text) {
    Matcher matcher = V4.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    long value = 0;
    for (int i = 1; i <= 4; i++) {
      String octet = matcher.group(i);
      // Some readers take a leading zero for octal.
      if (Integer.parseInt(octet) > 255 || (octet.length() > 1 && octet.startsWith("0"))) {
        return Optional.empty();
      }
      value = value << 8 | Integer.parseInt(octet);
    }
    return Optional.of(value);
  }

  private static Optional<Address> parseV6(String text) {
    int gap = text.indexOf("::");
    Optional<List<Integer>> head = groups(gap < 0 ? text : text.substring(0, gap), gap < 0);
    Optional<List<Integer>> tail =
        gap < 0 ? Optional.of(List.of()) : groups(text.substring(gap + 2), true);
    if (head.isEmpty() || tail.isEmpty()) {
      return Optional.empty();
    }
    int missing = V6_GROUPS - head.get().size() - tail.get().size();
    if (gap < 0 ? missing != 0 : missing < 1) {
      return Optional.empty();
    }
    List<Integer> all = new ArrayList<>(head.get());
    for (int i = 0; i < missing; i++) {
      all.add(0);
    }
    all.addAll(tail.get());
    BigInteger value = BigInteger.ZERO;
    for (int group : all) {
      value = value.shiftLeft(16).or(BigInteger.valueOf(group));
    }
    return Optional.of(new Address(value, V6_BITS));
  }

  /** The groups of 16 bits between colons; the last two can be written as an IPv4 address. */
  private static Optional<List<Integer>> groups(String text, boolean isEnd) {
    List<Integer> groups = new ArrayList<>();
    if (text.isEmpty()) {
      return Optional.of(groups);
    }
    String[] parts = text.split(":", -1);
    for (int i = 0; i < parts.length; i++) {
      if (V6_GROUP.matcher(parts[i]).matches()) {
        groups.add(Integer.parseInt(parts[i], 16));
        continue;
      }
      Optional<Long> v4 = isEnd && i == parts.length - 1 ? parseV4(parts[i]) : Optional.empty();
      if (v4.isEmpty()) {
        return Optional.empty();
      }
      groups.add((int) (v4.get() >> 16));
      groups.add((int) (v4.get() & 0xffff));
    }
    return Optional.of(groups);
  }
}
