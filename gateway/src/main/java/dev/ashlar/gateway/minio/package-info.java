/** What MinIO's own clients ask for that S3 does not have. */
@NullMarked
package dev.ashlar.gateway.minio;

import org.jspecify.annotations.NullMarked;
