package dev.ashlar.importer;

import java.util.List;

/**
 * What is imported, and how.
 *
 * @param buckets none: all buckets of the source
 * @param prefix of the keys; empty: all
 * @param parallel how many keys are copied at once
 * @param isMirror whether what only the target has is deleted, and what others have written to it
 *     is replaced
 * @param comparesAttributes whether tags and locks of what is there already are compared, too
 * @param isFollowing whether there will be another pass
 */
public record ImportOptions(
    List<String> buckets,
    String prefix,
    int parallel,
    boolean isMirror,
    boolean comparesAttributes,
    boolean isFollowing) {}
