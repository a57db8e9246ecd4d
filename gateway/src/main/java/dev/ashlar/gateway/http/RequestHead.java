package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/**
 * A request line and headers that have only one interpretation.
 *
 * @param bodyLength -1 when the body is chunked
 * @param persistent whether the client wants to reuse the connection
 * @param http10 whether the client has to be told that the connection stays open
 */
record RequestHead(
    String method,
    String rawPath,
    String rawQuery,
    HttpHeaders headers,
    long bodyLength,
    boolean persistent,
    boolean http10,
    boolean expectsContinue) {

  static RequestHead parse(HttpRequest request) throws S3Exception {
    if (request.decoderResult().isFailure()) {
      throw request.decoderResult().cause() instanceof TooLongFrameException
          ? new S3Exception(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE)
          : new S3Exception(S3Error.BAD_REQUEST);
    }
    HttpHeaders headers = request.headers();
    boolean http10 = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    check(http10 || request.protocolVersion().equals(HttpVersion.HTTP_1_1));
    check(headers.getAll(HttpHeaderNames.HOST).size() == 1 || http10);
    // Netty makes up a body for requests with this header.
    check(!headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1));
    String target = originForm(request.uri());
    int question = target.indexOf('?');
    return new RequestHead(
        request.method().name(),
        question < 0 ? target : target.substring(0, question),
        question < 0 ? "" : target.substring(question + 1),
        headers,
        bodyLength(headers, http10),
        persistent(headers, http10),
        http10,
        expectsContinue(headers, http10));
  }

  private static String originForm(String target) throws S3Exception {
    if (target.startsWith("/")) {
      return target;
    }
    int authority = target.indexOf("://");
    check(authority > 0);
    int slash = target.indexOf('/', authority + 3);
    check(slash > 0);
    return target.substring(slash);
  }

  private static long bodyLength(HttpHeaders headers, boolean http10) throws S3Exception {
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    if (codings.isEmpty()) {
      String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
      return length == null ? 0 : Long.parseLong(length); // the decoder has checked its form
    }
    check(!http10 && !headers.contains(HttpHeaderNames.CONTENT_LENGTH));
    if (codings.size() != 1 || !codings.get(0).equalsIgnoreCase("chunked")) {
      throw S3Exception.unsupportedHeader("Transfer-Encoding");
    }
    return -1;
  }

  private static boolean persistent(HttpHeaders headers, boolean http10) {
    return http10
        ? headers.containsValue(HttpHeaderNames.CONNECTION, "keep-alive", true)
        : !headers.containsValue(HttpHeaderNames.CONNECTION, "close", true);
  }

  private static boolean expectsContinue(HttpHeaders headers, boolean http10) {
    String expect = headers.get(HttpHeaderNames.EXPECT);
    return expect != null && !http10 && expect.equalsIgnoreCase("100-continue");
  }

  private static void check(boolean wellFormed) throws S3Exception {
    if (!wellFormed) {
      throw new S3Exception(S3Error.BAD_REQUEST);
    }
  }
}
