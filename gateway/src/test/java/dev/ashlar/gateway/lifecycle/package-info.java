@NullMarked
package dev.ashlar.gateway.lifecycle;

import org.jspecify.annotations.NullMarked;
