/** Access logs of buckets: lines, how they wait, and the objects that they become. */
@NullMarked
package dev.ashlar.gateway.accesslog;

import org.jspecify.annotations.NullMarked;
