package dev.ashlar.gateway.query;

import dev.ashlar.gateway.error.Denial;
import org.jspecify.annotations.Nullable;

/** Ends a request of IAM or STS with an error document. */
public final class QueryException extends Exception {
  private static final long serialVersionUID = 1;

  private final QueryError error;
  private @Nullable Denial denial;

  public QueryException(QueryError error, String message) {
    this(error, message, null);
  }

  public QueryException(QueryError error, String message, @Nullable Throwable cause) {
    // Errors of the client need no stack trace; failures of the server bring their cause.
    super(message, cause, false, cause != null);
    this.error = error;
  }

  /** ValidationError for a parameter, in AWS's words. */
  public static QueryException invalid(String name, String value, String constraint) {
    String member = Character.toLowerCase(name.charAt(0)) + name.substring(1);
    return new QueryException(
        QueryError.VALIDATION_ERROR,
        "1 validation error detected: Value '"
            + value
            + "' at '"
            + member
            + "' failed to satisfy constraint: "
            + constraint);
  }

  /** Says what denied the request; for the audit log only. */
  public QueryException deniedBy(@Nullable Denial why) {
    denial = why;
    return this;
  }

  /** What denied the request; null if nothing did, or it follows from the error. */
  @Nullable Denial denial() {
    return denial;
  }

  public QueryError error() {
    return error;
  }
}
