@NullMarked
package dev.ashlar.server.node;

import org.jspecify.annotations.NullMarked;
