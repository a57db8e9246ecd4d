@NullMarked
package dev.ashlar.server.log;

import org.jspecify.annotations.NullMarked;
