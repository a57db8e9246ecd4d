/** The roles of a process and how they are wired together. */
@NullMarked
package dev.ashlar.server.node;

import org.jspecify.annotations.NullMarked;
