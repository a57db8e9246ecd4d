package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpDates;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Iterator;
import java.util.Map;

/** Encodes the head of an answer, and its body if that is in memory, into one buffer. */
final class HeadEncoder {

  /** The Connection header of an answer after which the connection stays open, in HTTP/1.1. */
  static final byte[] KEEP = {};

  /** The same for a client of HTTP/1.0, which has to be told. */
  static final byte[] KEEP_ALIVE = ascii("Connection: keep-alive\r\n");

  static final byte[] CLOSE = ascii("Connection: close\r\n");

  private static final byte[] VERSION = ascii("HTTP/1.1 ");
  private static final byte[] REQUEST_ID = ascii("x-amz-request-id: ");
  private static final byte[] CONTENT_LENGTH = ascii("Content-Length: ");
  private static final byte[] LINE_END = ascii("\r\n");
  private static final int HEAD_BYTES = 512;

  private final Clock clock;
  private final byte[] fixedHeaders;
  private volatile DateLine dateLine = new DateLine(Long.MIN_VALUE, new byte[0]);

  /** The Date header of one second; made once for all answers of it. */
  private record DateLine(long second, byte[] line) {}

  HeadEncoder(Clock clock, String hostId) {
    this.clock = clock;
    this.fixedHeaders = ascii("Server: Ashlar\r\nx-amz-id-2: " + hostId + "\r\n");
  }

  /**
   * @param connection the Connection header
   */
  ByteBuf encode(
      ByteBufAllocator allocator,
      HttpAnswer answer,
      String requestId,
      boolean toHead,
      byte[] connection) {
    byte[] content =
        answer.body() instanceof HttpAnswer.Bytes bytes && !toHead && allowsBody(answer.status())
            ? bytes.content()
            : new byte[0];
    ByteBuf out = allocator.directBuffer(HEAD_BYTES + content.length);
    out.writeBytes(VERSION);
    writeText(out, HttpResponseStatus.valueOf(answer.status()).toString());
    out.writeBytes(LINE_END).writeBytes(dateLine()).writeBytes(fixedHeaders);
    out.writeBytes(REQUEST_ID);
    writeText(out, requestId);
    out.writeBytes(LINE_END);
    writeHeaders(out, answer.headers());
    writeLength(out, answer);
    out.writeBytes(connection);
    return out.writeBytes(LINE_END).writeBytes(content);
  }

  static boolean allowsBody(int status) {
    return status != 204 && status != 304;
  }

  private static void writeHeaders(ByteBuf out, HttpHeaders headers) {
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = each.next();
      writeText(out, header.getKey());
      out.writeByte(':').writeByte(' ');
      writeText(out, header.getValue());
      out.writeBytes(LINE_END);
    }
  }

  private static void writeLength(ByteBuf out, HttpAnswer answer) {
    if (!allowsBody(answer.status()) || answer.headers().contains(HttpHeaderNames.CONTENT_LENGTH)) {
      return;
    }
    long length =
        switch (answer.body()) {
          case HttpAnswer.Empty empty -> 0;
          case HttpAnswer.Bytes bytes -> bytes.content().length;
          case HttpAnswer.Streamed streamed -> streamed.length();
        };
    out.writeBytes(CONTENT_LENGTH);
    writeText(out, Long.toString(length));
    out.writeBytes(LINE_END);
  }

  /** Latin-1, as headers were received; nothing in a value can end its line. */
  private static void writeText(ByteBuf out, CharSequence text) {
    out.ensureWritable(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      out.writeByte((c < ' ' && c != '\t') || c > 0xFF || c == 0x7F ? '?' : c);
    }
  }

  private byte[] dateLine() {
    long second = Math.floorDiv(clock.millis(), 1000L);
    DateLine line = dateLine;
    if (line.second() != second) {
      String date = HttpDates.of(second * 1000);
      line = new DateLine(second, ascii("Date: " + date + "\r\n"));
      dateLine = line;
    }
    return line.line();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
