/** Decisions about requests from all that has a say: policies, ACLs, ownership and blocks. */
@NullMarked
package dev.ashlar.gateway.access.policy.decision;

import org.jspecify.annotations.NullMarked;
