package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Wraps a body in the decoders and verifiers that its headers ask for.
 *
 * @param hash the SHA-256 of the payload in hexadecimal digits, or how the payload is signed
 * @param signatures those of chunks begin with the request's; null if it does not have such a one
 */
record PayloadBodies(
    HttpExchange exchange,
    SignedQuery query,
    String hash,
    @Nullable Supplier<ChunkSignatures> signatures) {
  static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final String STREAM_SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  private static final String STREAM_SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
  private static final String STREAM_UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  private static final int SHA256_HEX_CHARS = 64;
  private static final int MD5_BYTES = 16;
  private static final int LENGTH_DIGITS_MAX = 18;

  PayloadBody open() throws S3Exception {
    return switch (hash) {
      case UNSIGNED -> verified(exchange.body(), null, false);
      case STREAM_SIGNED -> verified(chunked(chunkVerifier(), false), null, false);
      case STREAM_SIGNED_TRAILER -> verified(chunked(chunkVerifier(), true), null, true);
      case STREAM_UNSIGNED_TRAILER -> verified(chunked(null, true), null, true);
      default -> {
        checkHash(hash);
        yield verified(exchange.body(), hash, false);
      }
    };
  }

  private ChunkVerifier chunkVerifier() throws S3Exception {
    if (signatures == null) {
      throw new S3Exception(
          S3Error.ACCESS_DENIED,
          "Chunks are signed in requests that are signed with "
              + SigV4Authenticator.ALGORITHM
              + " only.");
    }
    return new ChunkVerifier(signatures.get());
  }

  /** Every request has one, so it is looked at without a stream. */
  private static boolean isHash(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return text.length() == SHA256_HEX_CHARS;
  }

  private static void checkHash(String hash) throws S3Exception {
    if (hash.startsWith("STREAMING-AWS4-ECDSA-")) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED);
    }
    if (!isHash(hash)) {
      throw S3Exception.invalidArgument(
          "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER,"
              + " STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER,"
              + " STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD,"
              + " STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.",
          "x-amz-content-sha256",
          hash);
    }
  }

  private AwsChunkedBody chunked(@Nullable ChunkVerifier verifier, boolean withTrailers)
      throws S3Exception {
    long length = decodedLength(exchange.headers().get(AmzHeaderNames.DECODED_CONTENT_LENGTH));
    AwsChunkedBody body = new AwsChunkedBody(exchange.body(), length, verifier, withTrailers);
    exchange.onEnd(body::close);
    return body;
  }

  private static long decodedLength(@Nullable String text) throws S3Exception {
    if (text == null) {
      throw new S3Exception(S3Error.MISSING_CONTENT_LENGTH);
    }
    boolean digits = text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (text.isEmpty() || text.length() > LENGTH_DIGITS_MAX || !digits) {
      throw S3Exception.invalidArgument(
          S3Error.INVALID_ARGUMENT.message(), "x-amz-decoded-content-length", text);
    }
    return Long.parseLong(text);
  }

  private PayloadBody verified(RequestBody body, @Nullable String sha256Hex, boolean trailers)
      throws S3Exception {
    HttpHeaders headers = exchange.headers();
    // CompleteMultipartUpload sends the checksum of the object, not of the list of parts.
    boolean completesUpload = exchange.method().equals("POST") && query.has("uploadId");
    DeclaredChecksum declared =
        completesUpload ? null : DeclaredChecksum.of(headers, trailers, body.length() != 0);
    return new VerifiedBody(
        body, sha256Hex, md5(headers.get(HttpHeaderNames.CONTENT_MD5)), declared);
  }

  private static byte @Nullable [] md5(@Nullable String base64) throws S3Exception {
    if (base64 == null) {
      return null;
    }
    byte[] md5 = Digests.decodeBase64(base64.strip());
    if (md5 == null || md5.length != MD5_BYTES) {
      throw new S3Exception(S3Error.INVALID_DIGEST);
    }
    return md5;
  }
}
