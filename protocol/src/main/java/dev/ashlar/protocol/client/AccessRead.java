package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer;
import org.jspecify.annotations.Nullable;

/**
 * What a decision about access is based on, from one snapshot. What a gateway has cached of it is
 * confirmed or replaced without a second read.
 *
 * @param found Nothing if no key was asked for
 * @param caller null if it was not asked for
 */
public record AccessRead(
    BucketConfigAnswer config, VersionRead found, @Nullable PrincipalAnswer caller) {}
