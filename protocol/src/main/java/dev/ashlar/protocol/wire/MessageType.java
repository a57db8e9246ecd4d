package dev.ashlar.protocol.wire;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The type of a frame's message; the numbers never change. 21 and 22 stay free, because a TLS
 * connection begins with one of them.
 */
public enum MessageType {
  HELLO(1, HandshakeMessage.Hello.class),
  CHALLENGE(2, HandshakeMessage.Challenge.class),
  PROOF(3, HandshakeMessage.Proof.class),
  WELCOME(4, HandshakeMessage.Welcome.class),
  REFUSAL(5, HandshakeMessage.Refusal.class),
  READ(10, Request.Read.class),
  WRITE(11, Request.Write.class),
  PREPARE_BYTES(12, Request.PrepareBytes.class),
  PREPARE_DELTAS(13, Request.PrepareDeltas.class),
  FOLD(14, Request.FoldAll.class),
  DROP(15, Request.DropAll.class),
  DELETE(16, Request.DeleteAll.class),
  LIST_BLOBS(17, Request.ListBlobs.class),
  LIST_ATTEMPTS(18, Request.ListAttempts.class),
  CANCEL(19, Signal.Cancel.class),
  DATA(20, Signal.Data.class),
  DONE(30, Reply.Done.class),
  FAILED(31, Reply.Failed.class),
  BYTES(32, Reply.Bytes.class),
  BLOBS(33, Reply.Blobs.class),
  ATTEMPTS(34, Reply.Attempts.class),
  STATE(35, Signal.State.class),
  PING(36, Signal.Ping.class),
  PONG(37, Signal.Pong.class),
  CALL(40, CallMessage.Call.class),
  ANSWER(41, CallMessage.Answer.class);

  private static final @Nullable MessageType[] BY_CODE = new MessageType[64];
  private static final Map<Class<?>, MessageType> BY_MESSAGE = new HashMap<>();

  static {
    for (MessageType type : values()) {
      BY_CODE[type.code] = type;
      BY_MESSAGE.put(type.message, type);
    }
  }

  private final byte code;
  private final Class<? extends Message> message;

  MessageType(int code, Class<? extends Message> message) {
    this.code = (byte) code;
    this.message = message;
  }

  byte code() {
    return code;
  }

  static MessageType of(Message message) {
    return Objects.requireNonNull(BY_MESSAGE.get(message.getClass()));
  }

  static MessageType of(byte code) throws WireFormatException {
    MessageType type = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    if (type == null) {
      throw new WireFormatException("message type " + code);
    }
    return type;
  }
}
