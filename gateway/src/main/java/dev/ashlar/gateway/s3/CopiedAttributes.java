package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.ObjectAttributes;
import io.netty.handler.codec.http.HttpHeaders;

/**
 * The headers and user metadata of a copy. Where websites redirect is never copied.
 *
 * @param areReplaced whether nothing is taken from the source
 * @param given with the request; of a copy that takes over the others only the redirect location
 */
public record CopiedAttributes(boolean areReplaced, ObjectAttributes given) {
  static CopiedAttributes of(HttpHeaders headers, boolean areReplaced) throws S3Exception {
    if (areReplaced) {
      return new CopiedAttributes(true, RequestHeaders.attributes(headers));
    }
    ObjectAttributes.Builder given = ObjectAttributes.newBuilder();
    String location = headers.get(RedirectLocation.HEADER);
    if (location != null) {
      given.putHeaders(RedirectLocation.HEADER, RedirectLocation.checked(location));
    }
    return new CopiedAttributes(false, given.build());
  }

  /** Whether nothing is given. */
  boolean areKept() {
    return !areReplaced && given.getHeadersCount() == 0;
  }

  /** Those of a copy of this source. */
  public ObjectAttributes of(ObjectAttributes source) {
    return areReplaced
        ? given
        : source.toBuilder()
            .removeHeaders(RedirectLocation.HEADER)
            .putAllHeaders(given.getHeadersMap())
            .build();
  }
}
