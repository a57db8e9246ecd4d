/** The audit log: who asked for what, from where, and what came of it. */
@NullMarked
package dev.ashlar.gateway.audit;

import org.jspecify.annotations.NullMarked;
