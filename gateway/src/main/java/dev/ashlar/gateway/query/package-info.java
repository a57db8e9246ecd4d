/** The AWS query protocol: actions as form parameters, answers as XML. IAM and STS speak it. */
@NullMarked
package dev.ashlar.gateway.query;

import org.jspecify.annotations.NullMarked;
