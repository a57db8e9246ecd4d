package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/** Where websites send those who ask for an object. It is stored as a header of the object. */
public final class RedirectLocation {
  /** In lower case, as stored headers are. */
  public static final String HEADER = "x-amz-website-redirect-location";

  private static final int CHARS_MAX = 2048;

  private RedirectLocation() {}

  /**
   * @throws S3Exception InvalidRedirectLocation unless it is a path or a URL of http or https
   */
  static String checked(String location) throws S3Exception {
    if (location.isEmpty()) {
      throw invalid("The website redirect location must be non-empty.");
    }
    if (location.length() > CHARS_MAX) {
      throw invalid("The length of website redirect location cannot exceed 2,048 characters.");
    }
    if (!location.startsWith("/")
        && !location.startsWith("http://")
        && !location.startsWith("https://")) {
      throw invalid(
          "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.");
    }
    return location;
  }

  private static S3Exception invalid(String message) {
    return new S3Exception(S3Error.INVALID_REDIRECT_LOCATION, message);
  }
}
