package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.uri.Percent;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The target of a request: the service if the bucket is null, a bucket if the key is null, else an
 * object. A key is all UTF-8 text after the bucket's slash; its dots and slashes have no meaning.
 */
public record RequestTarget(@Nullable String bucket, @Nullable String key) {
  /** What a target is. */
  public enum Scope {
    SERVICE,
    BUCKET,
    OBJECT
  }

  public Scope scope() {
    if (bucket == null) {
      return Scope.SERVICE;
    }
    return key == null ? Scope.BUCKET : Scope.OBJECT;
  }

  /**
   * @throws S3Exception InvalidURI, KeyTooLongError
   */
  public static RequestTarget of(HttpExchange exchange, S3Config config) throws S3Exception {
    String path = exchange.rawPath();
    String hostBucket = config.virtualHosts().bucket(exchange.headers());
    if (hostBucket != null) {
      return new RequestTarget(hostBucket, key(path.substring(1)));
    }
    int slash = path.indexOf('/', 1);
    String named = Percent.decode(slash < 0 ? path.substring(1) : path.substring(1, slash), false);
    if (slash < 0 && named.isEmpty()) {
      return new RequestTarget(null, null);
    }
    String bucket = config.answers().bucket(named);
    return new RequestTarget(bucket, slash < 0 ? null : key(path.substring(slash + 1)));
  }

  /** Decodes a key and checks its length; null for none. */
  static @Nullable String key(String raw) throws S3Exception {
    if (raw.isEmpty()) {
      return null;
    }
    String key = Percent.decode(raw, false);
    checkLength(key);
    return key;
  }

  static void checkLength(String key) throws S3Exception {
    if (S3Request.isTooLong(key)) {
      throw new S3Exception(S3Error.KEY_TOO_LONG)
          .with("Size", key.getBytes(StandardCharsets.UTF_8).length)
          .with("MaxSizeAllowed", S3Request.KEY_BYTES_MAX);
    }
  }
}
