@NullMarked
package dev.ashlar.server;

import org.jspecify.annotations.NullMarked;
