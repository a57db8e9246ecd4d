/**
 * IAM and S3 policies: parsed and checked documents, and what they say about a request. Pure: the
 * input is values.
 */
@NullMarked
package dev.ashlar.gateway.access.policy;

import org.jspecify.annotations.NullMarked;
