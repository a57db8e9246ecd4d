package dev.ashlar.gateway.exchange;

/**
 * How a connection is encrypted.
 *
 * @param version such as TLSv1.3
 * @param cipher such as TLS_AES_256_GCM_SHA384
 */
public record TlsParameters(String version, String cipher) {}
