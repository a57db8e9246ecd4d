@NullMarked
package dev.ashlar.server.cluster;

import org.jspecify.annotations.NullMarked;
