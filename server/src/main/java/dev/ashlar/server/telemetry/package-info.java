/** Spans and metrics for a collector; the only package that knows OpenTelemetry. */
@NullMarked
package dev.ashlar.server.telemetry;

import org.jspecify.annotations.NullMarked;
