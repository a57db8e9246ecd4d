package dev.ashlar.gateway.form;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a body of multipart/form-data (RFC 7578) piece by piece. It keeps at most one piece of
 * the body, and hands out the content of parts as slices of the pieces.
 *
 * <p>Netty's HttpPostRequestDecoder is not used: it collects each part in memory or in a temporary
 * file before it hands it out, it is fed by the event loop and not by the reader, and it limits the
 * number of fields, not all bytes in front of the file.
 *
 * <p>All that is read beside content that is handed out is bounded: preamble, delimiters, heads,
 * values of fields, and what follows the file.
 */
final class MultipartReader {
  private static final byte CR = '\r';
  private static final byte LF = '\n';

  private final RequestBody source;
  private final byte[] delimiter;
  private final int budgetBytes;
  private int spentBytes;
  private @Nullable ByteBuf piece;

  /** How many bytes of a delimiter the pieces before ended with. */
  private int matched;

  private boolean isInPart = true;

  /**
   * @param boundary of the Content-Type
   * @param budgetBytes all bytes that may be read beside content that is handed out
   */
  MultipartReader(RequestBody source, String boundary, int budgetBytes) {
    this.source = source;
    this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    this.budgetBytes = budgetBytes;
    // The first delimiter may begin the body, without the line end that others have before them.
    this.matched = 2;
  }

  /** The budget is whole again. */
  void renewBudget() {
    spentBytes = 0;
  }

  /** Releases the piece that it keeps. */
  void close() {
    if (piece != null) {
      piece.release();
      piece = null;
    }
  }

  /**
   * Skips the rest of the present part, or what comes before the first one, and reads the head of
   * the next part.
   *
   * @return null after the last part
   * @throws S3Exception MalformedPOSTRequest, MaxPostPreDataLengthExceeded, or what reading throws
   */
  @Nullable PartHead next() throws S3Exception, InterruptedException {
    for (ByteBuf skipped = content(); skipped != null; skipped = content()) {
      int bytes = skipped.readableBytes();
      skipped.release();
      spend(bytes);
    }
    spend(delimiter.length);
    if (isLast()) {
      return null;
    }
    PartHead head = null;
    for (String line = line(); !line.isEmpty(); line = line()) {
      PartHead found = PartHead.ofLine(line);
      require(found == null || head == null);
      head = found == null ? head : found;
    }
    if (head == null) {
      throw malformed();
    }
    isInPart = true;
    return head;
  }

  /** All of the present part. */
  byte[] value() throws S3Exception, InterruptedException {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    for (ByteBuf next = content(); next != null; next = content()) {
      try {
        spend(next.readableBytes());
        byte[] bytes = new byte[next.readableBytes()];
        next.readBytes(bytes);
        value.writeBytes(bytes);
      } finally {
        next.release();
      }
    }
    return value.toByteArray();
  }

  /** Reads what follows the last part, to the end of the body. */
  void finish() throws S3Exception, InterruptedException {
    for (ByteBuf rest = fill(); rest != null; rest = fill()) {
      spend(rest.readableBytes());
      close();
    }
  }

  /**
   * The next bytes of the present part; the caller releases them.
   *
   * @return null at its end
   */
  @Nullable ByteBuf content() throws S3Exception, InterruptedException {
    while (isInPart) {
      ByteBuf bytes = present();
      ByteBuf content = matched > 0 ? continued(bytes) : begun(bytes);
      if (content.isReadable()) {
        return content;
      }
      content.release();
    }
    return null;
  }

  /** Looks whether the delimiter goes on that the pieces before ended with. */
  private ByteBuf continued(ByteBuf bytes) {
    int more = matching(bytes, bytes.readerIndex(), matched);
    if (matched + more < delimiter.length && more < bytes.readableBytes()) {
      // It was content. No other delimiter can begin in it: only its first byte is a CR.
      ByteBuf content = Unpooled.wrappedBuffer(delimiter, 0, matched).asReadOnly();
      matched = 0;
      return content;
    }
    take(bytes, more);
    return Unpooled.EMPTY_BUFFER;
  }

  /** What comes before the first delimiter, whole or cut off, in these bytes. */
  private ByteBuf begun(ByteBuf bytes) {
    int end = bytes.writerIndex();
    int at = bytes.indexOf(bytes.readerIndex(), end, CR);
    while (at >= 0) {
      int length = matching(bytes, at, 0);
      if (length == delimiter.length || at + length == end) {
        ByteBuf content = bytes.readRetainedSlice(at - bytes.readerIndex());
        take(bytes, length);
        return content;
      }
      at = bytes.indexOf(at + 1, end, CR);
    }
    piece = null;
    return bytes;
  }

  /** How many bytes from an index on are those of the delimiter from an offset on. */
  private int matching(ByteBuf bytes, int index, int offset) {
    int max = Math.min(bytes.writerIndex() - index, delimiter.length - offset);
    int length = 0;
    while (length < max && bytes.getByte(index + length) == delimiter[offset + length]) {
      length++;
    }
    return length;
  }

  /** Takes bytes of the delimiter. */
  private void take(ByteBuf bytes, int length) {
    bytes.skipBytes(length);
    matched += length;
    if (matched == delimiter.length) {
      matched = 0;
      isInPart = false;
    }
  }

  /** Whether the delimiter that was read is the last one. */
  private boolean isLast() throws S3Exception, InterruptedException {
    byte next = octet();
    if (next == '-') {
      require(octet() == '-');
      return true;
    }
    while (next == ' ' || next == '\t') {
      next = octet();
    }
    require(next == CR && octet() == LF);
    return false;
  }

  /** A line of a head, without its end. */
  private String line() throws S3Exception, InterruptedException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (byte next = octet(); next != CR; next = octet()) {
      require(next != LF);
      line.write(next);
    }
    require(octet() == LF);
    return PostForm.utf8(line.toByteArray());
  }

  private byte octet() throws S3Exception, InterruptedException {
    spend(1);
    return present().readByte();
  }

  /** A piece with bytes to read. */
  private ByteBuf present() throws S3Exception, InterruptedException {
    ByteBuf bytes = fill();
    if (bytes == null) {
      throw malformed();
    }
    return bytes;
  }

  /** A piece with bytes to read; null at the end of the body. */
  private @Nullable ByteBuf fill() throws S3Exception, InterruptedException {
    if (piece != null && !piece.isReadable()) {
      close();
    }
    while (piece == null) {
      ByteBuf next = source.read();
      if (next == null) {
        return null;
      }
      if (next.isReadable()) {
        piece = next;
      } else {
        next.release();
      }
    }
    return piece;
  }

  private void spend(int bytes) throws S3Exception {
    spentBytes += bytes;
    if (spentBytes > budgetBytes) {
      throw new S3Exception(S3Error.MAX_POST_PRE_DATA_LENGTH_EXCEEDED);
    }
  }

  private static void require(boolean isWellFormed) throws S3Exception {
    if (!isWellFormed) {
      throw malformed();
    }
  }

  static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_POST_REQUEST);
  }
}
