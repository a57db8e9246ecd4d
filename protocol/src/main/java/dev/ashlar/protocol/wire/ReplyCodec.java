package dev.ashlar.protocol.wire;

import static dev.ashlar.protocol.wire.WireValues.BLOB;
import static dev.ashlar.protocol.wire.WireValues.DISCARD;

import java.nio.ByteBuffer;

/** Replies, byte for byte. */
final class ReplyCodec {
  private ReplyCodec() {}

  static int bytes(Reply reply) {
    return switch (reply) {
      case Reply.Done done -> Long.BYTES;
      case Reply.Failed failed -> 1 + WireValues.text(failed.why()).length;
      case Reply.Bytes bytes -> Integer.BYTES;
      case Reply.Blobs page -> BLOB.listBytes(page.blobs());
      case Reply.Attempts page -> DISCARD.listBytes(page.attempts());
    };
  }

  static void put(ByteBuffer out, Reply reply) {
    switch (reply) {
      case Reply.Done done -> out.putLong(done.incarnation());
      case Reply.Failed failed ->
          out.put(WireValues.code(failed.fault())).put(WireValues.text(failed.why()));
      case Reply.Bytes bytes -> out.putInt(bytes.length());
      case Reply.Blobs page -> BLOB.putList(out, page.blobs());
      case Reply.Attempts page -> DISCARD.putList(out, page.attempts());
    }
  }

  static Reply take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case DONE -> new Reply.Done(in.getLong());
      case FAILED -> new Reply.Failed(MessageCodec.fault(in.get()), WireValues.takeText(in));
      case BYTES -> new Reply.Bytes(in.getInt());
      case BLOBS -> new Reply.Blobs(BLOB.takeList(in));
      case ATTEMPTS -> new Reply.Attempts(DISCARD.takeList(in));
      default -> throw new WireFormatException(type + " is not a reply");
    };
  }
}
