package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/**
 * AWS's UriEncode: everything but unreserved characters as %XX in capitals. Clients differ in what
 * they escape on the wire, so signed text is decoded and encoded again, once; it is never
 * normalised in any other way. Every char stands for one byte.
 */
final class UriEncoding {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();
  private static final boolean[] UNRESERVED = new boolean[256];

  static {
    for (char c = 0; c < 128; c++) {
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      boolean digit = c >= '0' && c <= '9';
      UNRESERVED[c] = letter || digit || c == '-' || c == '.' || c == '_' || c == '~';
    }
  }

  private UriEncoding() {}

  /** A path; its slashes stay. */
  static void path(String raw, StringBuilder out) throws S3Exception {
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        c = decoded(raw, i);
        i += 2;
      }
      encode(c, c == '/', out);
    }
  }

  /** A name or value of the query, where a plus means a blank. */
  static String queryPart(String raw, int start, int end) throws S3Exception {
    StringBuilder out = new StringBuilder(end - start + 16);
    for (int i = start; i < end; i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        c = decoded(raw, i);
        i += 2;
      } else if (c == '+') {
        c = ' ';
      }
      encode(c, false, out);
    }
    return out.toString();
  }

  /** The bytes behind an encoded text, one char each. */
  static String decode(String encoded) throws S3Exception {
    if (encoded.indexOf('%') < 0) {
      return encoded;
    }
    StringBuilder out = new StringBuilder(encoded.length());
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        c = decoded(encoded, i);
        i += 2;
      }
      out.append(c);
    }
    return out.toString();
  }

  private static void encode(char c, boolean keep, StringBuilder out) {
    if (keep || UNRESERVED[c & 0xFF]) {
      out.append(c);
    } else {
      out.append('%').append(HEX[(c >> 4) & 0xF]).append(HEX[c & 0xF]);
    }
  }

  private static char decoded(String text, int percent) throws S3Exception {
    if (percent + 2 < text.length()) {
      int high = Character.digit(text.charAt(percent + 1), 16);
      int low = Character.digit(text.charAt(percent + 2), 16);
      if (high >= 0 && low >= 0) {
        return (char) ((high << 4) | low);
      }
    }
    throw new S3Exception(S3Error.INVALID_URI);
  }
}
