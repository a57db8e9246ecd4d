package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.uri.Percent;
import io.netty.handler.codec.http.HttpHeaders;

/** Parses the requests with the parameter {@code renameObject}. */
final class RenameRequests {
  private static final String SOURCE = "x-amz-rename-source";
  private static final String TOKEN = "x-amz-client-token";
  private static final int TOKEN_CHARS_MAX = 64;

  private RenameRequests() {}

  /** Whether only these requests have this header. */
  static boolean isOwnHeader(String lowerCaseName) {
    return lowerCaseName.equals(TOKEN)
        || switch (lowerCaseName) {
          case SOURCE,
              SOURCE + "-if-match",
              SOURCE + "-if-none-match",
              SOURCE + "-if-modified-since",
              SOURCE + "-if-unmodified-since" ->
              true;
          default -> false;
        };
  }

  static S3Request parse(String bucket, String key, HttpHeaders headers) throws S3Exception {
    if (headers.contains(AmzHeaderNames.COPY_SOURCE)) {
      throw S3Exception.unsupportedHeader(AmzHeaderNames.COPY_SOURCE.toString());
    }
    if (AclHeaders.parse(headers).isGiven()) {
      throw S3Exception.unsupportedHeader(AclHeaders.CANNED);
    }
    return new S3Request.RenameObject(
        bucket,
        key,
        source(headers),
        Conditions.of(headers, Conditions.Names.RENAME_SOURCE),
        RequestHeaders.writeCondition(headers),
        token(headers));
  }

  /** A key of the same bucket, percent-encoded, behind a slash or not. */
  private static String source(HttpHeaders headers) throws S3Exception {
    String raw = headers.get(SOURCE, "").trim();
    String decoded = Percent.decode(raw, false);
    String source = decoded.startsWith("/") ? decoded.substring(1) : decoded;
    if (source.isEmpty()) {
      throw S3Exception.invalidArgument("Rename source must name a key", SOURCE, raw);
    }
    return source;
  }

  private static String token(HttpHeaders headers) throws S3Exception {
    String token = headers.get(TOKEN);
    if (token == null) {
      return "";
    }
    boolean isValid =
        !token.isEmpty()
            && token.length() <= TOKEN_CHARS_MAX
            && token.chars().allMatch(c -> c > ' ' && c < 0x7F);
    if (!isValid) {
      throw S3Exception.invalidArgument("Client token is not valid", TOKEN, token);
    }
    return token;
  }
}
