package dev.ashlar.gateway.form;

import dev.ashlar.gateway.error.S3Exception;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the head of a part says: the Content-Disposition (RFC 7578, 4.2). Other headers of parts
 * change nothing in S3.
 *
 * @param name of the field, in lower case
 * @param fileName without the folders that some browsers send along; empty for none
 */
record PartHead(String name, String fileName) {
  private static final String DISPOSITION = "content-disposition";

  /**
   * Null for another header.
   *
   * @throws S3Exception MalformedPOSTRequest
   */
  static @Nullable PartHead ofLine(String line) throws S3Exception {
    int colon = line.indexOf(':');
    if (colon <= 0) {
      throw MultipartReader.malformed();
    }
    boolean isDisposition = line.substring(0, colon).strip().equalsIgnoreCase(DISPOSITION);
    return isDisposition ? new Parameters(line.substring(colon + 1)).read() : null;
  }

  /** Reads {@code form-data; name="…"; filename="…"}. */
  private static final class Parameters {
    private final String text;
    private int at;

    Parameters(String text) {
      this.text = text;
    }

    PartHead read() throws S3Exception {
      if (!upTo(';').strip().equalsIgnoreCase("form-data")) {
        throw MultipartReader.malformed();
      }
      String name = null;
      String fileName = null;
      while (at < text.length()) {
        String parameter = upTo('=').strip().toLowerCase(Locale.ROOT);
        String value = value();
        boolean isRepeated =
            (parameter.equals("name") && name != null)
                || (parameter.equals("filename") && fileName != null);
        if (isRepeated) {
          throw MultipartReader.malformed();
        }
        name = parameter.equals("name") ? value : name;
        fileName = parameter.equals("filename") ? value : fileName;
      }
      if (name == null || name.isEmpty()) {
        throw MultipartReader.malformed();
      }
      return new PartHead(
          name.toLowerCase(Locale.ROOT), fileName == null ? "" : withoutFolders(fileName));
    }

    private String upTo(char end) {
      int found = text.indexOf(end, at);
      String read = text.substring(at, found < 0 ? text.length() : found);
      at = found < 0 ? text.length() : found + 1;
      return read;
    }

    /** A token, or a quoted text in which only quotes are escaped: paths contain backslashes. */
    private String value() throws S3Exception {
      while (at < text.length() && text.charAt(at) == ' ') {
        at++;
      }
      if (at == text.length() || text.charAt(at) != '"') {
        return upTo(';').strip();
      }
      StringBuilder value = new StringBuilder();
      for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
        if (text.startsWith("\\\"", at)) {
          at++;
        }
        value.append(text.charAt(at));
      }
      if (at == text.length()) {
        throw MultipartReader.malformed();
      }
      at++;
      if (!upTo(';').isBlank()) {
        throw MultipartReader.malformed();
      }
      return value.toString();
    }

    private static String withoutFolders(String path) {
      return path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    }
  }
}
