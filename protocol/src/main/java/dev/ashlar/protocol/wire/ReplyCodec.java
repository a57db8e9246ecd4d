package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.model.BlobId;
import java.nio.ByteBuffer;

/** Answers, byte for byte. */
final class ReplyCodec {
  private ReplyCodec() {}

  static int bytes(Reply reply) {
    return switch (reply) {
      case Reply.Done done -> Long.BYTES;
      case Reply.Failed failed -> 1 + WireValues.text(failed.why()).length;
      case Reply.Bytes bytes -> Integer.BYTES;
      case Reply.Blobs blobs -> Short.BYTES + blobs.blobs().size() * WireValues.BLOB_BYTES;
      case Reply.Attempts attempts ->
          Short.BYTES + attempts.attempts().size() * WireValues.DROP_BYTES;
    };
  }

  static void put(ByteBuffer out, Reply reply) {
    switch (reply) {
      case Reply.Done done -> out.putLong(done.incarnation());
      case Reply.Failed failed ->
          out.put(WireValues.code(failed.fault())).put(WireValues.text(failed.why()));
      case Reply.Bytes bytes -> out.putInt(bytes.length());
      case Reply.Blobs blobs -> {
        out.putShort((short) blobs.blobs().size());
        for (BlobId blob : blobs.blobs()) {
          WireValues.putBlob(out, blob);
        }
      }
      case Reply.Attempts attempts -> {
        out.putShort((short) attempts.attempts().size());
        for (DiscardIntent attempt : attempts.attempts()) {
          WireValues.putDrop(out, attempt);
        }
      }
    }
  }

  static Reply take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case DONE -> new Reply.Done(in.getLong());
      case FAILED -> new Reply.Failed(MessageCodec.fault(in.get()), WireValues.takeText(in));
      case BYTES -> new Reply.Bytes(in.getInt());
      case BLOBS ->
          new Reply.Blobs(WireValues.takeList(in, WireValues.BLOB_BYTES, WireValues::takeBlob));
      case ATTEMPTS ->
          new Reply.Attempts(WireValues.takeList(in, WireValues.DROP_BYTES, WireValues::takeDrop));
      default -> throw new WireFormatException(type + " is no answer");
    };
  }
}
