package dev.ashlar.protocol.wire;

import org.jspecify.annotations.Nullable;

/**
 * What a frame carries; the numbers are for ever. 21 and 22 stay free: a connection that begins
 * with one of them is one with TLS.
 */
public enum MessageType {
  HELLO(1),
  CHALLENGE(2),
  PROOF(3),
  WELCOME(4),
  REFUSAL(5),
  READ(10),
  WRITE(11),
  PREPARE_BYTES(12),
  PREPARE_DELTAS(13),
  FOLD(14),
  DROP(15),
  DELETE(16),
  LIST_BLOBS(17),
  LIST_ATTEMPTS(18),
  CANCEL(19),
  DATA(20),
  DONE(30),
  FAILED(31),
  BYTES(32),
  BLOBS(33),
  ATTEMPTS(34),
  STATE(35),
  PING(36),
  PONG(37),
  CALL(40),
  ANSWER(41);

  private static final @Nullable MessageType[] BY_CODE = new MessageType[64];

  static {
    for (MessageType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final byte code;

  MessageType(int code) {
    this.code = (byte) code;
  }

  byte code() {
    return code;
  }

  static MessageType of(byte code) throws WireFormatException {
    MessageType type = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    if (type == null) {
      throw new WireFormatException("message type " + code);
    }
    return type;
  }
}
