/** JSON documents of policies as a tree in which every value knows its place. */
@NullMarked
package dev.ashlar.gateway.access.policy.document;

import org.jspecify.annotations.NullMarked;
