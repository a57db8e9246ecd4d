package dev.ashlar.protocol.wire;

import static dev.ashlar.protocol.wire.WireValues.BLOB;
import static dev.ashlar.protocol.wire.WireValues.DISCARD;

import dev.ashlar.protocol.client.ShardFault;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/** Converts messages to and from the bodies of frames. */
public final class MessageCodec {
  private static final int CALL_MESSAGE_BYTES = 1 + Integer.BYTES;
  private static final CallMessage.Method[] METHODS = CallMessage.Method.values();
  private static final CallMessage.Outcome[] OUTCOMES = CallMessage.Outcome.values();
  private static final Signal.Cancel CANCEL = new Signal.Cancel();
  private static final Signal.Data DATA = new Signal.Data();
  private static final Signal.Ping PING = new Signal.Ping();
  private static final Signal.Pong PONG = new Signal.Pong();

  private MessageCodec() {}

  /** The length of the message's body. */
  public static int bytes(Message message) {
    return switch (message) {
      case HandshakeMessage handshake -> HandshakeCodec.bytes(handshake);
      case Request request -> RequestCodec.bytes(request);
      case Reply.Done done -> Long.BYTES;
      case Reply.Failed failed -> 1 + WireValues.text(failed.why()).length;
      case Reply.Bytes bytes -> Integer.BYTES;
      case Reply.Blobs page -> BLOB.listBytes(page.blobs());
      case Reply.Attempts page -> DISCARD.listBytes(page.attempts());
      case CallMessage call -> CALL_MESSAGE_BYTES;
      case Signal.State state -> 1;
      case Signal signal -> 0;
    };
  }

  /** Appends the message: exactly {@link #bytes} of it. */
  public static void put(ByteBuffer out, Message message) {
    switch (message) {
      case HandshakeMessage handshake -> HandshakeCodec.put(out, handshake);
      case Request request -> RequestCodec.put(out, request);
      case Reply.Done done -> out.putLong(done.incarnation());
      case Reply.Failed failed ->
          out.put(WireValues.code(failed.fault())).put(WireValues.text(failed.why()));
      case Reply.Bytes bytes -> out.putInt(bytes.length());
      case Reply.Blobs page -> BLOB.putList(out, page.blobs());
      case Reply.Attempts page -> DISCARD.putList(out, page.attempts());
      case CallMessage.Call call -> out.put(call.method().code()).putInt(call.length());
      case CallMessage.Answer answer -> out.put(answer.outcome().code()).putInt(answer.length());
      case Signal.State state -> out.put(WireValues.code(state.refusal()));
      case Signal signal -> {}
    }
  }

  /** Parses a message, which must fill the buffer. */
  public static Message take(MessageType type, ByteBuffer body) throws WireFormatException {
    try {
      Message message = parse(type, body);
      if (body.hasRemaining()) {
        throw new WireFormatException(type + " with " + body.remaining() + " bytes too many");
      }
      return message;
    } catch (BufferUnderflowException e) {
      throw new WireFormatException(type + " is too short");
    } catch (IllegalArgumentException e) {
      throw new WireFormatException(type + ": " + e.getMessage());
    }
  }

  private static Message parse(MessageType type, ByteBuffer body) throws WireFormatException {
    return switch (type) {
      case HELLO, CHALLENGE, PROOF, WELCOME, REFUSAL -> HandshakeCodec.take(type, body);
      case READ,
          WRITE,
          PREPARE_BYTES,
          PREPARE_DELTAS,
          FOLD,
          DROP,
          DELETE,
          LIST_BLOBS,
          LIST_ATTEMPTS ->
          RequestCodec.take(type, body);
      case DONE -> new Reply.Done(body.getLong());
      case FAILED -> new Reply.Failed(fault(body.get()), WireValues.takeText(body));
      case BYTES -> new Reply.Bytes(body.getInt());
      case BLOBS -> new Reply.Blobs(BLOB.takeList(body));
      case ATTEMPTS -> new Reply.Attempts(DISCARD.takeList(body));
      case STATE -> new Signal.State(WireValues.fault(body.get()));
      case CANCEL -> CANCEL;
      case DATA -> DATA;
      case CALL -> new CallMessage.Call(Coded.of(METHODS, body.get()), body.getInt());
      case ANSWER -> new CallMessage.Answer(Coded.of(OUTCOMES, body.get()), body.getInt());
      case PING -> PING;
      case PONG -> PONG;
    };
  }

  private static ShardFault fault(byte code) throws WireFormatException {
    ShardFault fault = WireValues.fault(code);
    if (fault == null) {
      throw new WireFormatException("a failure without a fault");
    }
    return fault;
  }
}
