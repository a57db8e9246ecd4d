/** S3 as a language: requests, errors, XML. */
@NullMarked
package dev.ashlar.gateway.s3;

import org.jspecify.annotations.NullMarked;
