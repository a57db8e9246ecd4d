package dev.ashlar.gateway.auth;

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
    boolean presigned) {}
