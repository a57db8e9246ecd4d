@NullMarked
package dev.ashlar.server.jobs;

import org.jspecify.annotations.NullMarked;
