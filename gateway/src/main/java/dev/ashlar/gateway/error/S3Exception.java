package dev.ashlar.gateway.error;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Ends a request with an S3 error; rendered in one place. */
public final class S3Exception extends Exception {
  private static final long serialVersionUID = 1;

  private final S3Error error;
  // Names and values that S3 puts into the error document beside code and message.
  private final transient Map<String, String> details;
  private final transient Map<String, String> headers;

  public S3Exception(S3Error error) {
    this(error, error.message());
  }

  public S3Exception(S3Error error, String message) {
    this(error, message, Map.of(), null);
  }

  public S3Exception(S3Error error, String message, Throwable cause) {
    this(error, message, Map.of(), cause);
  }

  public S3Exception(
      S3Error error, String message, Map<String, String> details, @Nullable Throwable cause) {
    this(error, message, details, Map.of(), cause);
  }

  private S3Exception(
      S3Error error,
      String message,
      Map<String, String> details,
      Map<String, String> headers,
      @Nullable Throwable cause) {
    // Expected answers to bad input need no stack trace; faults of ours bring their cause.
    super(message, cause, false, cause != null);
    this.error = error;
    this.details = Map.copyOf(details);
    this.headers = Map.copyOf(headers);
  }

  /** InvalidArgument with the name and the value of what was wrong. */
  public static S3Exception invalidArgument(String message, String name, String value) {
    return new S3Exception(
        S3Error.INVALID_ARGUMENT,
        message,
        Map.of("ArgumentName", name, "ArgumentValue", value),
        null);
  }

  /** An error whose answer carries a header of its own. */
  public static S3Exception withHeader(S3Error error, String name, String value) {
    return new S3Exception(error, error.message(), Map.of(), Map.of(name, value), null);
  }

  public S3Error error() {
    return error;
  }

  public Map<String, String> details() {
    return details;
  }

  public Map<String, String> headers() {
    return headers;
  }
}
