package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.RequestBody;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** Puts the decoders and verifiers around a body that its headers ask for. */
final class PayloadBodies {
  static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final String STREAM_SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  private static final String STREAM_SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
  private static final String STREAM_UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  private static final int SHA256_HEX_CHARS = 64;
  private static final int MD5_BYTES = 16;
  private static final int LENGTH_DIGITS_MAX = 18;

  private final HttpExchange exchange;
  private final SignedQuery query;
  private final SignatureClaim claim;
  private final HmacKey key;

  PayloadBodies(HttpExchange exchange, SignedQuery query, SignatureClaim claim, HmacKey key) {
    this.exchange = exchange;
    this.query = query;
    this.claim = claim;
    this.key = key;
  }

  PayloadBody open() throws S3Exception {
    String hash = claim.payloadHash();
    return switch (hash) {
      case UNSIGNED -> verified(exchange.body(), null, false);
      case STREAM_SIGNED -> verified(chunked(new ChunkSignatures(key, claim), false), null, false);
      case STREAM_SIGNED_TRAILER ->
          verified(chunked(new ChunkSignatures(key, claim), true), null, true);
      case STREAM_UNSIGNED_TRAILER -> verified(chunked(null, true), null, true);
      default -> {
        checkHash(hash);
        yield verified(exchange.body(), hash, false);
      }
    };
  }

  private static void checkHash(String hash) throws S3Exception {
    if (hash.startsWith("STREAMING-AWS4-ECDSA-")) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED);
    }
    boolean hex =
        hash.length() == SHA256_HEX_CHARS
            && hash.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    if (!hex) {
      throw new S3Exception(
              S3Error.INVALID_ARGUMENT,
              "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER,"
                  + " STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER,"
                  + " STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD,"
                  + " STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.")
          .with("ArgumentName", "x-amz-content-sha256")
          .with("ArgumentValue", hash);
    }
  }

  private AwsChunkedBody chunked(@Nullable ChunkSignatures signatures, boolean withTrailers)
      throws S3Exception {
    long length = decodedLength(exchange.headers().get("x-amz-decoded-content-length"));
    AwsChunkedBody body = new AwsChunkedBody(exchange.body(), length, signatures, withTrailers);
    exchange.onEnd(body::close);
    return body;
  }

  private static long decodedLength(@Nullable String text) throws S3Exception {
    if (text == null) {
      throw new S3Exception(S3Error.MISSING_CONTENT_LENGTH);
    }
    boolean digits = text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (text.isEmpty() || text.length() > LENGTH_DIGITS_MAX || !digits) {
      throw new S3Exception(S3Error.INVALID_ARGUMENT, "Invalid Argument")
          .with("ArgumentName", "x-amz-decoded-content-length")
          .with("ArgumentValue", text);
    }
    return Long.parseLong(text);
  }

  private PayloadBody verified(RequestBody body, @Nullable String sha256Hex, boolean trailers)
      throws S3Exception {
    HttpHeaders headers = exchange.headers();
    // There the checksum is the finished object's, not that of the list of parts in the body.
    boolean completesUpload = exchange.method().equals("POST") && query.has("uploadId");
    DeclaredChecksum declared =
        completesUpload ? null : DeclaredChecksum.of(headers, trailers, body.length() != 0);
    return new VerifiedBody(
        body, new VerifiedBody.Promises(sha256Hex, md5(headers.get("content-md5")), declared));
  }

  private static byte @Nullable [] md5(@Nullable String base64) throws S3Exception {
    if (base64 == null) {
      return null;
    }
    byte[] md5 = DeclaredChecksum.decodeBase64(base64);
    if (md5 == null || md5.length != MD5_BYTES) {
      throw new S3Exception(S3Error.INVALID_DIGEST);
    }
    return md5;
  }
}
