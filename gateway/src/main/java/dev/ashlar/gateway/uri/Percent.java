package dev.ashlar.gateway.uri;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Percent-encoding. Text as it came over the wire has one char per byte; a broken escape in it is
 * an InvalidURI.
 */
public final class Percent {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private Percent() {}

  /**
   * Decodes wire text to the UTF-8 text that it stands for.
   *
   * @param plusIsSpace as in queries; in paths a plus is a plus
   * @throws S3Exception InvalidURI also when the bytes are not UTF-8
   */
  public static String decode(String raw, boolean plusIsSpace) throws S3Exception {
    if (isPlain(raw, plusIsSpace)) {
      return raw;
    }
    byte[] bytes = new byte[raw.length()];
    int count = 0;
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        c = escaped(raw, i);
        i += 2;
      } else if (c == '+' && plusIsSpace) {
        c = ' ';
      } else if (c > 0xFF) {
        throw new S3Exception(S3Error.INVALID_URI);
      }
      bytes[count++] = (byte) c;
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes, 0, count))
          .toString();
    } catch (CharacterCodingException e) {
      throw new S3Exception(S3Error.INVALID_URI);
    }
  }

  private static boolean isPlain(String raw, boolean plusIsSpace) {
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%' || c > 0x7F || (c == '+' && plusIsSpace)) {
        return false;
      }
    }
    return true;
  }

  /** Decodes wire text to the bytes that it stands for, one char each. */
  public static String decodeBytes(String raw) throws S3Exception {
    if (raw.indexOf('%') < 0) {
      return raw;
    }
    StringBuilder out = new StringBuilder(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        c = escaped(raw, i);
        i += 2;
      }
      out.append(c);
    }
    return out.toString();
  }

  /**
   * Encodes as S3 does for encoding-type=url, but a space as %20: decoders of paths and of forms
   * both understand that.
   */
  public static String encode(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      append(out, c, isAlphanumeric(c) || "-_.*/".indexOf(c) >= 0);
    }
    return out.toString();
  }

  /**
   * Encodes only what a decoder would take for something else, and what XML cannot hold: from the
   * rest, decoding makes the same text.
   */
  public static String encodeAmbiguous(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean isControl = c < ' ' && c != '\n' && c != '\t';
      if (c == '%' || c == '+' || isControl || c == 0x7F || c >= 0xFFFE) {
        out.append(encode(String.valueOf(c)));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  /**
   * Appends AWS's UriEncode of wire text: everything but unreserved characters as %XX in capitals.
   * Clients differ in what they escape, so signed text is decoded and encoded again, once; it is
   * never normalised in any other way.
   *
   * @param isQuery a name or value of the query, where a plus means a space; else a path, whose
   *     slashes stay
   */
  public static StringBuilder appendCanonical(String raw, boolean isQuery, StringBuilder out)
      throws S3Exception {
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        c = escaped(raw, i);
        i += 2;
      } else if (c == '+' && isQuery) {
        c = ' ';
      }
      append(out, c, isAlphanumeric(c) || "-._~".indexOf(c) >= 0 || (c == '/' && !isQuery));
    }
    return out;
  }

  private static void append(StringBuilder out, char c, boolean asItIs) {
    if (asItIs) {
      out.append(c);
    } else {
      out.append('%').append(HEX[(c >> 4) & 0xF]).append(HEX[c & 0xF]);
    }
  }

  private static boolean isAlphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  private static char escaped(String text, int percent) throws S3Exception {
    if (percent + 2 < text.length()) {
      int high = Character.digit(text.charAt(percent + 1), 16);
      int low = Character.digit(text.charAt(percent + 2), 16);
      if (high >= 0 && low >= 0) {
        return (char) (high << 4 | low);
      }
    }
    throw new S3Exception(S3Error.INVALID_URI);
  }
}
