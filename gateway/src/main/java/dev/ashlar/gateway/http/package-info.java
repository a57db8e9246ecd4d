/** HTTP on Netty: connections, bodies, answers. Knows nothing of S3 but its errors. */
@NullMarked
package dev.ashlar.gateway.http;

import org.jspecify.annotations.NullMarked;
