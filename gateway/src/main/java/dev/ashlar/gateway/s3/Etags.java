package dev.ashlar.gateway.s3;

/** ETags as clients send them: quoted, bare, weak, several or the asterisk. */
public final class Etags {
  private Etags() {}

  /** Whether the list names this ETag (given without quotes) or is the asterisk. */
  public static boolean matches(String list, String etag) {
    for (String candidate : list.split(",", -1)) {
      String one = unquote(candidate);
      if (one.equals("*") || one.equals(etag)) {
        return true;
      }
    }
    return false;
  }

  /** One ETag without blanks, weakness and quotes. */
  public static String unquote(String etag) {
    String text = etag.trim();
    if (text.startsWith("W/")) {
      text = text.substring(2);
    }
    if (text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"")) {
      return text.substring(1, text.length() - 1);
    }
    return text;
  }

  public static String quote(String etag) {
    return '"' + etag + '"';
  }
}
