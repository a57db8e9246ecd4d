package dev.ashlar.gateway.lifecycle;

/**
 * A version as rules see it.
 *
 * @param size 0 for delete markers
 * @param storageClass its name; empty for delete markers
 * @param sinceMs when it was written, if it is the newest version of its key; otherwise when the
 *     version after it was written
 * @param isNewest whether it is the newest version of its key
 * @param isOnly whether the key has no other version
 * @param newerNoncurrent how many versions are between it and the newest one
 */
public record JudgedVersion(
    String key,
    long size,
    String storageClass,
    boolean isMarker,
    long sinceMs,
    boolean isNewest,
    boolean isOnly,
    int newerNoncurrent) {}
