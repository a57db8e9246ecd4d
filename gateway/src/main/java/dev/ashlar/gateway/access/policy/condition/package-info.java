/** The conditions of statements: operators, and the values that they compare. */
@NullMarked
package dev.ashlar.gateway.access.policy.condition;

import org.jspecify.annotations.NullMarked;
