/** One host for periodic work that one of several gateways does for all. */
@NullMarked
package dev.ashlar.server.jobs;

import org.jspecify.annotations.NullMarked;
