/** Values of requests and the patterns of policies that they are compared with. */
@NullMarked
package dev.ashlar.gateway.access.policy.value;

import org.jspecify.annotations.NullMarked;
