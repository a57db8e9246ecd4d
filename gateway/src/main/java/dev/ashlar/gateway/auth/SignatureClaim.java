package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a signature, from the header or the query of a request.
 *
 * @param signedHeaders names as listed, lower case
 * @param timestamp yyyyMMdd'T'HHmmss'Z'
 * @param payloadHash what the canonical request names as the payload's hash
 * @param presigned the signature is in the query, and there not signed itself
 */
record SignatureClaim(
    CredentialScope scope,
    String[] signedHeaders,
    String signature,
    String timestamp,
    String payloadHash,
    boolean presigned) {

  /** The Credential of a signature: {@code accessKey/date/region/service/aws4_request}. */
  record CredentialScope(
      String accessKey, String date, String region, String service, String terminator) {
    static final String SERVICE = "s3";
    static final String TERMINATOR = "aws4_request";

    /**
     * Parses and checks a credential.
     *
     * @param error and
     * @param prefix of its message, which differ between header and query
     * @param rules which regions and which service are served
     */
    static CredentialScope parse(String credential, ScopeRules rules, S3Error error, String prefix)
        throws S3Exception {
      CredentialScope scope = parse(credential);
      if (scope == null) {
        throw new S3Exception(
            error,
            prefix
                + "the Credential is mal-formed; expecting"
                + " \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
      }
      rules.check(scope, error, prefix);
      if (!scope.terminator.equals(TERMINATOR)) {
        String wrong = "incorrect terminal \"" + scope.terminator + "\".";
        throw new S3Exception(error, prefix + wrong + " This endpoint uses \"aws4_request\".");
      }
      return scope;
    }

    /** Null when it does not have its five parts. */
    private static @Nullable CredentialScope parse(String credential) {
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

    /** Requires that the timestamp of the request is of the credential's day. */
    void requireDay(String timestamp, S3Error error, String prefix) throws S3Exception {
      if (!timestamp.startsWith(date + 'T')) {
        throw new S3Exception(
            error,
            prefix
                + "Invalid credential date \""
                + date
                + "\". This date is not the same as X-Amz-Date: \""
                + timestamp
                + "\".");
      }
    }

    /** What the string to sign names. */
    String text() {
      return date + '/' + region + '/' + service + '/' + terminator;
    }
  }
}
