package dev.ashlar.gateway.uri;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Percent-encoding of UTF-8, strictly. */
public final class Percent {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private Percent() {}

  /**
   * Decodes text whose characters are bytes as they came over the wire.
   *
   * @param plusIsSpace as in queries; in paths a plus is a plus
   * @throws S3Exception InvalidURI when an escape is broken or the bytes are not UTF-8
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
        bytes[count++] = (byte) escapedByte(raw, i);
        i += 2;
      } else if (c == '+' && plusIsSpace) {
        bytes[count++] = ' ';
      } else if (c <= 0xFF) {
        bytes[count++] = (byte) c;
      } else {
        throw new S3Exception(S3Error.INVALID_URI);
      }
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

  /**
   * Encodes as S3 does for encoding-type=url, but a space as %20: that survives decoders of paths
   * and of forms.
   */
  public static String encode(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      if (isUnreserved(c)) {
        out.append(c);
      } else {
        out.append('%').append(HEX[c >> 4]).append(HEX[c & 15]);
      }
    }
    return out.toString();
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

  private static boolean isUnreserved(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_'
        || c == '.'
        || c == '*'
        || c == '/';
  }

  private static int escapedByte(String raw, int at) throws S3Exception {
    if (at + 2 < raw.length()) {
      int high = Character.digit(raw.charAt(at + 1), 16);
      int low = Character.digit(raw.charAt(at + 2), 16);
      if (high >= 0 && low >= 0) {
        return high << 4 | low;
      }
    }
    throw new S3Exception(S3Error.INVALID_URI);
  }
}
