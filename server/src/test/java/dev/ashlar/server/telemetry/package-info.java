@NullMarked
package dev.ashlar.server.telemetry;

import org.jspecify.annotations.NullMarked;
