/** Access control lists of buckets and objects. */
@NullMarked
package dev.ashlar.gateway.access.acl;

import org.jspecify.annotations.NullMarked;
