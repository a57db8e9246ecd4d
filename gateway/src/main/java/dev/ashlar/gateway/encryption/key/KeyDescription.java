package dev.ashlar.gateway.encryption.key;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.WrappedKey;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What a wrapped data key says without being opened.
 *
 * @param keyId of the KMS key, or name of the master key; empty for SSE-C
 * @param context of KMS, as JSON; empty: none
 */
public record KeyDescription(
    KeyProtection protection, String keyId, ByteString context, boolean bucketKey) {
  private static final byte[] DOMAIN = "ashlar wrapped key 1".getBytes(US_ASCII);

  /** Empty if this build cannot read it. */
  public static Optional<KeyDescription> of(ByteString wrapped) {
    try {
      WrappedKey key = WrappedKey.parseFrom(wrapped);
      return switch (key.getProtection()) {
        case KEY_PROTECTION_MASTER, KEY_PROTECTION_KMS, KEY_PROTECTION_CUSTOMER ->
            Optional.of(of(key));
        case KEY_PROTECTION_NONE, UNRECOGNIZED -> Optional.empty();
      };
    } catch (InvalidProtocolBufferException e) {
      return Optional.empty();
    }
  }

  static KeyDescription of(WrappedKey key) {
    return new KeyDescription(
        key.getProtection(), key.getKey(), key.getContext(), key.getBucketKey());
  }

  /** What is bound to the sealed key: domain | protection 1 | bucket key 1 | key id | context. */
  byte[] bound() {
    byte[] id = keyId.getBytes(UTF_8);
    ByteBuffer bound = ByteBuffer.allocate(DOMAIN.length + 2 + 8 + id.length + context.size());
    bound.put(DOMAIN).put((byte) protection.getNumber()).put((byte) (bucketKey ? 1 : 0));
    bound.putInt(id.length).put(id);
    bound.putInt(context.size());
    context.copyTo(bound);
    return bound.array();
  }
}
