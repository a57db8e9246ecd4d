package dev.ashlar.gateway.s3;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parameters that GetObject and HeadObject share.
 *
 * @param partNumber 0 for none
 * @param checksum whether the stored checksum is wanted
 * @param overrides headers of the answer by lower-case name
 */
public record ReadOptions(
    Conditions conditions,
    @Nullable RangeSpec range,
    int partNumber,
    boolean checksum,
    Map<String, String> overrides) {}
