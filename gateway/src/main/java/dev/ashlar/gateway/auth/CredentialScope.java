package dev.ashlar.gateway.auth;

import org.jspecify.annotations.Nullable;

/** The Credential of a signature: {@code accessKey/date/region/service/aws4_request}. */
record CredentialScope(
    String accessKey, String date, String region, String service, String terminator) {
  static final String SERVICE = "s3";
  static final String TERMINATOR = "aws4_request";

  /** Null when it does not have its five parts. */
  static @Nullable CredentialScope parse(String credential) {
    // From the right: an access key may contain slashes.
    int terminator = credential.lastIndexOf('/');
    int service = terminator < 0 ? -1 : credential.lastIndexOf('/', terminator - 1);
    int region = service < 0 ? -1 : credential.lastIndexOf('/', service - 1);
    int date = region < 0 ? -1 : credential.lastIndexOf('/', region - 1);
    if (date <= 0) {
      return null;
    }
    return new CredentialScope(
        credential.substring(0, date),
        credential.substring(date + 1, region),
        credential.substring(region + 1, service),
        credential.substring(service + 1, terminator),
        credential.substring(terminator + 1));
  }

  /** What the string to sign names. */
  String text() {
    return date + '/' + region + '/' + service + '/' + terminator;
  }
}
