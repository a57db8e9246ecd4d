package dev.ashlar.gateway.access;

/**
 * The sender of a request, proven by a signature. Unsigned requests have no caller: the
 * authenticator refuses them.
 *
 * @param accessKey of the credential that signed the request
 * @param canonicalId the canonical user id that the access key belongs to
 */
public record Caller(String accessKey, String canonicalId) {}
