/** Access logs of buckets: their configuration, what a line tells, and the delivery. */
@NullMarked
package dev.ashlar.gateway.operation.log;

import org.jspecify.annotations.NullMarked;
