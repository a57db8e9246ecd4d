@NullMarked
package dev.ashlar.gateway.encryption.frame;

import org.jspecify.annotations.NullMarked;
