/** Notifications: which events of a bucket which target is told of, and what it is told. */
@NullMarked
package dev.ashlar.gateway.notification;

import org.jspecify.annotations.NullMarked;
