package dev.ashlar.protocol.wire;

import org.jspecify.annotations.Nullable;

/**
 * The type of a frame's message; the numbers never change. 21 and 22 stay free, because a TLS
 * connection begins with one of them.
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

  static MessageType of(Message message) {
    return switch (message) {
      case HandshakeMessage.Hello hello -> HELLO;
      case HandshakeMessage.Challenge challenge -> CHALLENGE;
      case HandshakeMessage.Proof proof -> PROOF;
      case HandshakeMessage.Welcome welcome -> WELCOME;
      case HandshakeMessage.Refusal refusal -> REFUSAL;
      case Request request -> of(request);
      case Reply reply -> of(reply);
      case CallMessage.Call call -> CALL;
      case CallMessage.Answer answer -> ANSWER;
      case Signal.Cancel cancel -> CANCEL;
      case Signal.Data data -> DATA;
      case Signal.State state -> STATE;
      case Signal.Ping ping -> PING;
      case Signal.Pong pong -> PONG;
    };
  }

  private static MessageType of(Request request) {
    return switch (request) {
      case Request.Read read -> READ;
      case Request.Write write -> WRITE;
      case Request.PrepareBytes bytes -> PREPARE_BYTES;
      case Request.PrepareDeltas deltas -> PREPARE_DELTAS;
      case Request.FoldAll all -> FOLD;
      case Request.DropAll all -> DROP;
      case Request.DeleteAll all -> DELETE;
      case Request.ListBlobs list -> LIST_BLOBS;
      case Request.ListAttempts list -> LIST_ATTEMPTS;
    };
  }

  private static MessageType of(Reply reply) {
    return switch (reply) {
      case Reply.Done done -> DONE;
      case Reply.Failed failed -> FAILED;
      case Reply.Bytes bytes -> BYTES;
      case Reply.Blobs blobs -> BLOBS;
      case Reply.Attempts attempts -> ATTEMPTS;
    };
  }

  static MessageType of(byte code) throws WireFormatException {
    MessageType type = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    if (type == null) {
      throw new WireFormatException("message type " + code);
    }
    return type;
  }
}
