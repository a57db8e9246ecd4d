package dev.ashlar.bench.load;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Reads one HTTP answer after the other from a connection, and of a body only how long it is,
 * unless it tells an error.
 */
final class AnswerParser {
  private static final int HEAD_BYTES_MAX = 16 << 10;
  private static final int ERROR_BYTES_MAX = 4096;
  private static final int STATUS_AT = "HTTP/1.1 ".length();
  private static final int STATUS_ERROR = 400;

  private final byte[] head = new byte[HEAD_BYTES_MAX];
  private final StringBuilder errorBody = new StringBuilder();
  private int headBytes;
  private boolean isInBody;
  private long left;
  private int status;
  private long bodyBytes;
  private boolean isLast;
  private boolean isWithoutBody;

  /** An answer that we cannot follow. */
  static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1;

    UnreadableException(String message) {
      super(message);
    }
  }

  /**
   * What the next answer is to.
   *
   * @param isHead whether Content-Length tells of a body that is not sent
   */
  void expect(boolean isHead) {
    isWithoutBody = isHead;
  }

  /** Takes what is there; true when an answer ends, with what follows it left in the buffer. */
  boolean read(ByteBuf in) throws UnreadableException {
    if (!isInBody && !readHead(in)) {
      return false;
    }
    int part = (int) Math.min(left, in.readableBytes());
    if (status >= STATUS_ERROR && errorBody.length() < ERROR_BYTES_MAX) {
      errorBody.append(in.toString(in.readerIndex(), part, StandardCharsets.UTF_8));
    }
    in.skipBytes(part);
    left -= part;
    bodyBytes += part;
    isInBody = left > 0;
    return !isInBody;
  }

  int status() {
    return status;
  }

  long bodyBytes() {
    return bodyBytes;
  }

  /** Whether the server will close the connection behind this answer. */
  boolean isLast() {
    return isLast;
  }

  boolean isError() {
    return status >= STATUS_ERROR;
  }

  /** Status and S3's code, for an error. */
  String errorName() {
    int from = errorBody.indexOf("<Code>");
    int to = errorBody.indexOf("</Code>");
    return from < 0 || to < from
        ? "HTTP " + status
        : "HTTP " + status + " " + errorBody.substring(from + "<Code>".length(), to);
  }

  private boolean readHead(ByteBuf in) throws UnreadableException {
    while (in.isReadable()) {
      if (headBytes == HEAD_BYTES_MAX) {
        throw new UnreadableException("head of an answer too long");
      }
      byte next = in.readByte();
      head[headBytes++] = next;
      if (next == '\n' && isHeadComplete()) {
        begin(new String(head, 0, headBytes, StandardCharsets.ISO_8859_1));
        headBytes = 0;
        return true;
      }
    }
    return false;
  }

  private boolean isHeadComplete() {
    return headBytes >= 4 && head[headBytes - 3] == '\n' && head[headBytes - 2] == '\r';
  }

  private void begin(String text) throws UnreadableException {
    if (!text.startsWith("HTTP/1.1 ") || text.length() < STATUS_AT + 3) {
      throw new UnreadableException("not HTTP/1.1");
    }
    status = Integer.parseInt(text, STATUS_AT, STATUS_AT + 3, 10);
    errorBody.setLength(0);
    bodyBytes = 0;
    String lower = text.toLowerCase(Locale.ROOT);
    isLast = "close".equals(header(lower, "connection"));
    String length = header(lower, "content-length");
    if (isWithoutBody) {
      left = 0;
    } else if (!length.isEmpty()) {
      left = Long.parseLong(length);
    } else if (status == 204 || status == 304) {
      left = 0;
    } else {
      throw new UnreadableException("HTTP " + status + " without Content-Length");
    }
  }

  private static String header(String head, String name) {
    String start = "\r\n" + name + ":";
    int at = head.indexOf(start);
    return at < 0
        ? ""
        : head.substring(at + start.length(), head.indexOf("\r\n", at + start.length())).strip();
  }
}
