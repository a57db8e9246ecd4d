package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/** What S3 answers where the key of a client does not fit the object. */
public final class CustomerKeyErrors {
  private CustomerKeyErrors() {}

  static S3Exception missing() {
    return S3Exception.invalidRequest(
        "The object was stored using a form of Server Side Encryption. The correct parameters must"
            + " be provided to retrieve the object.");
  }

  public static S3Exception notApplicable() {
    return S3Exception.invalidRequest(
        "The encryption parameters are not applicable to this object.");
  }

  static S3Exception another() {
    return new S3Exception(
        S3Error.INVALID_ARGUMENT,
        "The provided encryption parameters did not match the ones used originally.");
  }
}
