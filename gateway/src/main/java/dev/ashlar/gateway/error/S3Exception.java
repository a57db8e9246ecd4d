package dev.ashlar.gateway.error;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Ends a request with an S3 error. The connection renders it as S3's error document. */
public final class S3Exception extends Exception {
  private static final long serialVersionUID = 1;

  private final S3Error error;
  private transient Map<String, String> details = Map.of();
  private transient Map<String, String> headers = Map.of();
  private @Nullable Denial denial;

  public S3Exception(S3Error error) {
    this(error, error.message());
  }

  public S3Exception(S3Error error, String message) {
    this(error, message, null);
  }

  /** An error with S3's own message, caused by a failure of the server. */
  public S3Exception(S3Error error, Throwable cause) {
    this(error, error.message(), cause);
  }

  public S3Exception(S3Error error, String message, @Nullable Throwable cause) {
    // Errors of the client need no stack trace; failures of the server bring their cause.
    super(message, cause, false, cause != null);
    this.error = error;
  }

  public static S3Exception invalidRequest(String message) {
    return new S3Exception(S3Error.INVALID_REQUEST, message);
  }

  /** InvalidArgument with the name and the value of the argument. */
  public static S3Exception invalidArgument(String message, String name, String value) {
    return new S3Exception(S3Error.INVALID_ARGUMENT, message)
        .with("ArgumentName", name)
        .with("ArgumentValue", value);
  }

  /** NotImplemented for a header that asks for more than is served. */
  public static S3Exception unsupportedHeader(String name) {
    return new S3Exception(S3Error.NOT_IMPLEMENTED).with("Header", name);
  }

  /** Adds a field to the error document, beside code and message. */
  public S3Exception with(String field, String value) {
    details = added(details, field, value);
    return this;
  }

  public S3Exception with(String field, long value) {
    return with(field, Long.toString(value));
  }

  /** Adds a header to the answer. */
  public S3Exception withHeader(String name, String value) {
    headers = added(headers, name, value);
    return this;
  }

  /** The same with another error: message, fields, headers and denial stay. */
  public S3Exception as(S3Error other) {
    S3Exception same = new S3Exception(other, String.valueOf(getMessage()), getCause());
    same.details = details;
    same.headers = headers;
    same.denial = denial;
    return same;
  }

  /** Says what denied the request; for the audit log only. */
  public S3Exception deniedBy(Denial why) {
    denial = why;
    return this;
  }

  private static Map<String, String> added(Map<String, String> to, String name, String value) {
    Map<String, String> all = to.isEmpty() ? new TreeMap<>() : to;
    all.put(name, value);
    return all;
  }

  /** What denied the request; null if nothing did, or it follows from the error. */
  public @Nullable Denial denial() {
    return denial;
  }

  public S3Error error() {
    return error;
  }

  /** The fields of the error document, sorted by name. */
  public Map<String, String> details() {
    return details;
  }

  public Map<String, String> headers() {
    return headers;
  }
}
