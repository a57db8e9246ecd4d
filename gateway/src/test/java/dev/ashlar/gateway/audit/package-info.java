@NullMarked
package dev.ashlar.gateway.audit;

import org.jspecify.annotations.NullMarked;
