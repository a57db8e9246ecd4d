/** One HTTP request and its answer, as operations see them: the port between connections and S3. */
@NullMarked
package dev.ashlar.gateway.exchange;

import org.jspecify.annotations.NullMarked;
