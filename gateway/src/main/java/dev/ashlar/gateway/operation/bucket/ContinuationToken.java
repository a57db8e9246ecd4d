package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** An opaque token for the next page of a listing: a version byte, then the last name. */
final class ContinuationToken {
  private static final byte VERSION = 1;

  private ContinuationToken() {}

  static String encode(String lastName) {
    byte[] name = lastName.getBytes(StandardCharsets.UTF_8);
    byte[] token = ByteBuffer.allocate(1 + name.length).put(VERSION).put(name).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token);
  }

  static String decode(String token) throws S3Exception {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(token));
      if (bytes.remaining() > 1 && bytes.get() == VERSION) {
        return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
      }
    } catch (IllegalArgumentException | CharacterCodingException e) {
      // Answered below, like a token of another version.
    }
    throw new S3Exception(S3Error.INVALID_ARGUMENT, "The continuation token provided is incorrect");
  }
}
