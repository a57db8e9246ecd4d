package dev.ashlar.gateway.website;

import dev.ashlar.gateway.uri.Percent;
import org.jspecify.annotations.Nullable;

/**
 * Where a request is sent instead.
 *
 * @param protocol http or https; null: that of the request
 * @param host null: that of the request
 * @param code of the answer, from 301 to 399; 0: nothing is said about it
 */
public record Redirect(
    @Nullable String protocol, @Nullable String host, int code, KeyChange keyChange) {
  private static final int MOVED = 301;

  /** What becomes of the key. */
  public sealed interface KeyChange {
    /** It stays. */
    record None() implements KeyChange {}

    /** Another one. */
    record Whole(String key) implements KeyChange {}

    /** Another prefix instead of the one of the condition. */
    record Prefix(String prefix) implements KeyChange {}
  }

  /** Of the answer. */
  public int status() {
    return code == 0 ? MOVED : code;
  }

  /**
   * The value of the header Location.
   *
   * @param key of the request
   * @param prefix of the key that the condition of the rule has; may be empty
   * @param requestProtocol http or https
   * @param requestHost with the port
   */
  public String location(String key, String prefix, String requestProtocol, String requestHost) {
    String changed =
        switch (keyChange) {
          case KeyChange.None none -> key;
          case KeyChange.Whole whole -> whole.key();
          case KeyChange.Prefix other -> other.prefix() + key.substring(prefix.length());
        };
    String path = path(changed);
    if (protocol == null && host == null) {
      return path;
    }
    return (protocol == null ? requestProtocol : protocol)
        + "://"
        + (host == null ? requestHost : host)
        + path;
  }

  /** The path of a key. It never begins with two slashes, which browsers take for a host. */
  public static String path(String key) {
    String encoded = Percent.encode(key);
    return "/" + (encoded.startsWith("/") ? "%2F" + encoded.substring(1) : encoded);
  }
}
