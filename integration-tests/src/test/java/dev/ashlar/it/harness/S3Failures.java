package dev.ashlar.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import software.amazon.awssdk.services.s3.model.S3Exception;

/** Asserts on the errors that S3 answers. */
public final class S3Failures {
  private S3Failures() {}

  /** The call fails with exactly this status and code, and the answer names its request. */
  public static S3Exception assertFails(int status, String code, Runnable call) {
    S3Exception failure = assertThrows(S3Exception.class, call::run);
    String expected = status + " " + code;
    assertEquals(
        expected,
        failure.statusCode() + " " + failure.awsErrorDetails().errorCode(),
        () -> "" + failure);
    return failure;
  }

  /** The same for answers without a body (HEAD, 304), where only the status speaks. */
  public static void assertFails(int status, Runnable call) {
    S3Exception failure = assertThrows(S3Exception.class, call::run);
    assertEquals(status, failure.statusCode(), () -> "" + failure);
  }
}
