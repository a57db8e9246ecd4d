package dev.ashlar.gateway.encryption.key;

import com.google.protobuf.ByteString;

/** What the data key of an object is sealed with. */
public sealed interface Encryption {
  /** SSE-S3: with the master key of the server. */
  record Master() implements Encryption {}

  /**
   * SSE-KMS: with a key of the key management.
   *
   * @param context an object of JSON whose members are sorted; empty: none
   * @param bucketKey whether a bucket key was asked for, which changes nothing here
   */
  record Kms(String keyId, ByteString context, boolean bucketKey) implements Encryption {}

  /** SSE-C: with a key of the client. */
  record Customer(CustomerKey key) implements Encryption {}
}
