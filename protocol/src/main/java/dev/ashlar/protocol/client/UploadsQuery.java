package dev.ashlar.protocol.client;

/**
 * A page of the multipart uploads in progress, by key, then by upload id.
 *
 * @param keyMarker with an empty {@code uploadIdMarker}: only keys strictly greater; else also
 *     uploads of this key with a greater id
 * @param max 0 to 1000
 */
public record UploadsQuery(
    String bucket,
    String prefix,
    String delimiter,
    String keyMarker,
    String uploadIdMarker,
    int max) {}
