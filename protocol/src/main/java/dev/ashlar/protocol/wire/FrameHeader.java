package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.trace.TraceContext;
import java.nio.ByteBuffer;

/**
 * The start of every frame, big-endian:
 *
 * <pre>
 * type 1 | flags 1 | drive 2 | body bytes 4 | request 8 | data bytes 4 | timeout 4 | body CRC 4
 * | data CRC 4 | header CRC 4
 * </pre>
 *
 * @param drive its index in the list of the WELCOME; 0 where no drive is meant
 * @param request number of the request or answer it belongs to, chosen by the client
 * @param bodyBytes length of the message after the header
 * @param dataBytes length of the data after the body
 * @param timeoutMillis of a request: how long the client will wait once it is sent; else 0
 * @param isLast whether no more data of this request or answer follows
 * @param isTraced whether the body ends with the {@link TraceContext} of a request
 */
public record FrameHeader(
    MessageType type,
    boolean isLast,
    boolean isTraced,
    int drive,
    long request,
    int bodyBytes,
    int dataBytes,
    int timeoutMillis,
    int bodyCrc,
    int dataCrc) {
  public static final int BYTES = 36;
  private static final int CRC_AT = BYTES - Integer.BYTES;
  private static final int LAST = 1;
  private static final int TRACED = 2;

  /** Appends it to the buffer. */
  public void put(ByteBuffer out, FrameSeal seal) {
    int at = out.position();
    int flags = (isLast ? LAST : 0) | (isTraced ? TRACED : 0);
    out.put(type.code()).put((byte) flags).putShort((short) drive);
    out.putInt(bodyBytes).putLong(request).putInt(dataBytes).putInt(timeoutMillis);
    out.putInt(bodyCrc).putInt(dataCrc);
    out.position(at);
    int crc = seal.next(out, CRC_AT);
    out.putInt(at + CRC_AT, crc).position(at + BYTES);
  }

  /**
   * Takes it from the buffer, which holds all of it.
   *
   * @param bodyBytesMax the longest body accepted now
   * @param dataBytesMax the longest data accepted now
   */
  public static FrameHeader take(ByteBuffer in, FrameSeal seal, int bodyBytesMax, int dataBytesMax)
      throws WireFormatException {
    int crc = seal.next(in, CRC_AT);
    if (in.getInt(in.position() + CRC_AT) != crc) {
      throw new WireFormatException("checksum mismatch in a frame's header");
    }
    MessageType type = MessageType.of(in.get());
    byte flags = in.get();
    int drive = Short.toUnsignedInt(in.getShort());
    int bodyBytes = in.getInt();
    long request = in.getLong();
    int dataBytes = in.getInt();
    if (flags < 0 || flags > (LAST | TRACED)) {
      throw new WireFormatException(type + " with flags " + flags);
    }
    if (bodyBytes < 0 || bodyBytes > bodyBytesMax || dataBytes < 0 || dataBytes > dataBytesMax) {
      throw new WireFormatException(
          type + " with a body of " + bodyBytes + " and " + dataBytes + " bytes of data");
    }
    int timeoutMillis = in.getInt();
    int bodyCrc = in.getInt();
    int dataCrc = in.getInt();
    in.getInt();
    return new FrameHeader(
        type,
        (flags & LAST) != 0,
        (flags & TRACED) != 0,
        drive,
        request,
        bodyBytes,
        dataBytes,
        timeoutMillis,
        bodyCrc,
        dataCrc);
  }
}
